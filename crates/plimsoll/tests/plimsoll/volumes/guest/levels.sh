# The steps of the article about performance levels: dd of a file at each level and size.
device=
start_iscsi
log_in /guest/paths
for _ in $(seq 60); do
    device=$(ls /dev/disk/by-path/*oracleiaas*-lun-0 2> /dev/null | head -1)
    [ -n "$device" ] && break
    sleep 1
done
log_in /guest/unlimited
for _ in $(seq 60); do
    unlimited=$(ls /dev/disk/by-path/*unlimited-lun-0 2> /dev/null | head -1)
    [ -n "$unlimited" ] && break
    sleep 1
done
mkdir -p /mount
# The rate that the processor of the guest reaches, with the load of the article.
mkfs.xfs -q -K "$unlimited" && mount "$unlimited" /mount
step "unlimited"
dd if=/dev/zero of=/mount/unlimited bs=64M count=3 conv=fsync status=none
await unlimited-counted
umount /mount
show mkfs.xfs -q -K "$device" && show mount "$device" /mount && step "filesystem"
# A file that is written at the present level, while the test counts the bytes at the service.
write() {
    step "write $1"
    show dd if=/dev/zero of="/mount/$1" bs=64M count=2 conv=fsync
    await "counted-$1"
    rm "/mount/$1"
}
change() {
    step "change $1"
    await "changed-$1"
}
write low_50G
change balance_50G
write balance_50G
change higher_50G
write higher_50G
change balance_100G
for _ in $(seq 60); do
    iscsiadm -m session --rescan > /dev/null
    [ "$(blockdev --getsize64 "$device")" = 107374182400 ] && break
    sleep 1
done
show xfs_growfs /mount
step "size $(blockdev --getsize64 "$device")"
write balance_100G
change low_100G
write low_100G
# Enough for the volume to be throttled for longer than autotune waits.
step "autotune"
dd if=/dev/zero of=/mount/tuned bs=64M count=24 conv=fsync status=none
await tuned
umount /mount && xfs_repair -n "$device" > /dev/null 2>&1 && step "clean"
show iscsiadm -m node -u
