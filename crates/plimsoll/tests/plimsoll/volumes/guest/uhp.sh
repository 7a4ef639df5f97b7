# The steps of the article about Ultra High Performance on an instance, after the volume was attached by the API.
device=/dev/mapper/mpatha
partition=$device-part1
keep etc/iscsi var/lib/iscsi etc/multipath etc/fstab
mkdir -p /data /etc/multipath/conf.d
# Maps the partitions of the device, as a rule of udev does on a whole system.
map_partitions() {
    [ -e $partition ] || kpartx -a -s -p -part $device
    udevadm settle
}
if is_again; then
    mount -a && step "the boot goes on without the volume"
fi
start_iscsi
# Of the volume without limits; that of the volume is the agent's.
cp /guest/multipath.conf /etc/multipath/conf.d/unlimited.conf
show sh /guest/agent.sh
paths 5 60
for timeout in /sys/block/sd*/device/timeout; do echo 300 > "$timeout"; done
if ! is_again; then
    show ls -l /dev/oracleoci/oraclevdb
    step "logged in"
    printf 'n\np\n1\n\n\nw\n' | fdisk $device > /dev/null 2>&1
    map_partitions
    show lsblk --paths -o NAME,SIZE,TYPE /dev/sda /dev/sdb /dev/sdc /dev/sdd /dev/sde
    show multipath -ll
    show mkfs.xfs $partition && step "filesystem"
    echo "$partition /data xfs defaults,_netdev,nofail 0 2" >> /etc/fstab
    show cat /etc/fstab
    show mount /data && show df -m /data
    dd if=/dev/urandom of=/data/file bs=64k count=64 conv=fsync status=none
    (cd /data && sha256sum file > sums)
    umount /data /run/boot/* 2> /dev/null
    sync
    exit
fi
map_partitions
mount -a -O _netdev
show df -m /data
(cd /data && sha256sum --status -c sums) && step "mounted with the same data after the reboot"
# The command of the article, on a device.
start_fio() {
    fio --filename="$1" --direct=1 --rw=randread --bs=4k --ioengine=libaio --iodepth=16 --runtime=3600 --numjobs=4 \
        --time_based --group_reporting --name=iops-test-job --readonly > /run/fio.log 2>&1 &
    fio=$!
}
stop_fio() {
    kill -INT $fio
    wait $fio
}
# The rate that the processor of the guest reaches.
log_in /guest/unlimited
paths 10 60
start_fio /dev/mapper/mpathb
step "unlimited"
await unlimited-counted
stop_fio
multipath -f mpathb
iscsiadm -m node -T "$(cut -d' ' -f1 /guest/unlimited | head -1)" -u > /dev/null
paths 5 60
start_fio $partition
step "fio"
await levels-changed
step "cut a path"
paths 4 300
step "restore the path"
paths 5 300
dd if=/dev/urandom of=/data/restored bs=64k count=16 conv=fsync status=none && step "written after the restoration"
stop_fio
show cat /run/fio.log
grep -q "err= 0" /run/fio.log && step "no error of fio"
umount /data && xfs_repair -n $partition > /dev/null 2>&1 && step "clean"
kpartx -d -p -part $device
step "detach"
# The initiator keeps its sessions and tries again, but none is logged in.
logged_in() { cat /sys/class/iscsi_session/session*/state | grep -c LOGGED_IN; }
for _ in $(seq 120); do
    [ "$(logged_in)" = 0 ] && break
    sleep 1
done
show cat /sys/class/iscsi_session/session*/state
step "sessions after the detachment: $(logged_in)"
