#!/bin/busybox sh
# The first program of the guest: the root directory of the host, read-only, with a layer in memory over it.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in /modules/*.ko; do insmod $module; done
mkdir -p /host /layer /new
options=trans=virtio,version=9p2000.L,msize=262144,ro
mount -t 9p -o $options,cache=loose root /host
mount -t tmpfs tmpfs /layer
mkdir -p /layer/upper /layer/work
mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work overlay /new
mount -t proc proc /new/proc
mount -t sysfs sysfs /new/sys
mount -t devtmpfs dev /new/dev
for directory in run tmp mnt; do mount -t tmpfs tmpfs /new/$directory; done
mkdir -p /new/guest /new/lib/modules
mount -t 9p -o $options guest /new/guest
mount -t 9p -o $options kernel /new/lib/modules
ifconfig lo 127.0.0.1 up
ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
chroot /new /bin/bash /guest/job.sh
echo GUEST ENDS
poweroff -f
