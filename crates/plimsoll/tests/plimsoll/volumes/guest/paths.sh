# The printed commands of a volume with five paths.
start_iscsi
. /guest/attach.sh > /run/attach.log 2>&1 || cat /run/attach.log
start_multipath
paths 5 60
step "sessions $(iscsiadm -m session | wc -l), depth $(cat /sys/block/sda/device/queue_depth)"
multipath -ll | sed 's/\x1b\[[0-9;]*m//g;s/^/STEP layout /'
device=/dev/mapper/mpatha
mkdir -p /mnt/volume
if is_again; then
    mount $device /mnt/volume && cd /mnt/volume && sha256sum --status -c sums && step "same data after the reboot"
    cd / && umount /mnt/volume
    exit
fi
mkfs.ext4 -q -E nodiscard $device && mount $device /mnt/volume && cd /mnt/volume && step "filesystem on $device"
write() { dd if=/dev/urandom of="$1" bs=64k count=32 conv=fsync status=none && step "written $1"; }
write whole
step "cut a path"
write cut
paths 4 120
step "restore the path"
paths 5 120
write restored
step "grow the volume"
for _ in $(seq 60); do
    iscsiadm -m session --rescan > /dev/null
    multipathd resize map mpatha > /dev/null
    [ "$(blockdev --getsize64 $device)" -gt 60000000000 ] && break
    sleep 1
done
resize2fs $device 2> /dev/null && step "size $(blockdev --getsize64 $device)"
write grown
sha256sum whole cut restored grown > sums && sync
cd / && umount /mnt/volume && fsck.ext4 -fn $device > /dev/null 2>&1 && step "clean"
