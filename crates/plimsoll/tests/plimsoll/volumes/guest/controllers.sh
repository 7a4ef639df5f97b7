# A unit of an array with two controllers: the owner changes while data are written.
start_iscsi
. /guest/attach.sh > /run/attach.log 2>&1 || cat /run/attach.log
start_multipath
paths 2 60
# The usual settings of multipath-tools for this vendor name the device after the identifier of the unit.
device=/dev/mapper/$(multipathd show maps format "%n" | tail -n 1)
show multipath -ll
mkdir -p /mnt/volume
# udev names the device some time after multipathd has made it.
for _ in $(seq 60); do
    [ -b "$device" ] && break
    sleep 1
done
if mkfs.ext4 -q -E nodiscard $device && mount $device /mnt/volume; then
    step "filesystem"
else
    step "FAILED no filesystem: $(ls -l /dev/mapper)"
    exit
fi
# The kernel's device of the path with the highest priority.
best() { multipathd show paths format "%p %d" | sort -rn | head -1 | awk '{ print $2 }'; }
# Writes files until it is stopped, and notes the sum of each that is durable.
write() {
    number=0
    until [ -e /run/stop ]; do
        number=$((number + 1))
        dd if=/dev/urandom of=/mnt/volume/$number bs=64k count=8 conv=fsync status=none || step "FAILED to write $number"
        (cd /mnt/volume && sha256sum $number >> /run/sums)
    done
}
# Waits until another path is the best, with writes before and after.
switch() {
    before=$(best)
    step "$1"
    for _ in $(seq 300); do
        [ "$(best)" != "$before" ] && break
        sleep 1
    done
    written=$(wc -l < /run/sums)
    step "$1: the best path was $before, and is $(best)"
    show multipath -ll
    for _ in $(seq 60); do
        [ "$(wc -l < /run/sums)" -gt "$((written + 1))" ] && break
        sleep 1
    done
    [ "$(wc -l < /run/sums)" -gt "$((written + 1))" ] && step "$1: writes go on"
}
touch /run/sums
write &
writer=$!
switch "fail over"
switch "fail back"
touch /run/stop
wait $writer
umount /mnt/volume && mount $device /mnt/volume && cd /mnt/volume && sha256sum --status -c /run/sums && step "$(wc -l < /run/sums) files are right"
cd / && umount /mnt/volume && fsck.ext4 -fn $device > /dev/null 2>&1 && step "clean"
