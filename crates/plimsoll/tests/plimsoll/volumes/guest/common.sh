# Functions of all jobs. Lines that begin with STEP go to the test, which acts on some of them.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
set -o pipefail
cd /run
sudo() { "$@"; }
systemctl() { :; }
step() { echo "STEP $*"; }
# A command whose output goes to the test.
show() {
    step "\$ $*"
    "$@" 2>&1 | sed 's/\x1b\[[0-9;]*m//g;s/^/STEP   /'
}
# Whether the guest was started again.
is_again() { grep -q again /proc/cmdline; }
# Waits for a file of the test.
await() {
    for _ in $(seq 900); do
        [ -e "/guest/$1" ] && return
        sleep 1
    done
    step "FAILED no $1"
}
# Waits until as many paths as $1 are active, for $2 seconds.
paths() {
    for _ in $(seq "$2"); do
        active=$(multipathd show paths format "%t" | grep -c active)
        [ "$active" = "$1" ] && return
        sleep 1
    done
    step "FAILED $1 paths wanted, $active active"
    multipath -ll
}
# The state of these files and directories outlives the guest: they are on its boot volume.
keep() {
    mkdir -p /run/boot
    mount /dev/vda /run/boot
    for path in "$@"; do
        if [ ! -e "/run/boot/$path" ]; then
            mkdir -p "/run/boot/$(dirname "$path")"
            case $path in
            etc/fstab) : > "/run/boot/$path" ;;
            *) mkdir "/run/boot/$path" ;;
            esac
        fi
        [ -e "/$path" ] || mkdir -p "/$path"
        mount --bind "/run/boot/$path" "/$path"
    done
}
for module in iscsi_tcp sd_mod dm-mod dm-multipath dm-queue-length dm-service-time scsi_dh_alua virtio_blk ext4 xfs crc32c; do
    modprobe $module
done
mkdir -p /run/udev /run/lock/iscsi /etc/iscsi /var/lib/iscsi
/lib/systemd/systemd-udevd --daemon 2> /dev/null
udevadm trigger
udevadm settle
# The name of the initiator, and its daemon.
start_iscsi() {
    echo "InitiatorName=iqn.2026-01.local.guest:1" > /etc/iscsi/initiatorname.iscsi
    iscsid
}
start_multipath() { multipathd > /run/multipathd.log 2>&1; }
# A session for each path of a list, with the settings of OCI's agent, but for the timeout of a cut path.
log_in() {
    while read -r iqn portal user secret; do
        set -- node.startup=automatic node.session.initial_login_retry_max=2 "node.conn[0].timeo.login_timeout=10" \
            "node.conn[0].timeo.logout_timeout=3" node.session.timeo.replacement_timeout=15 node.session.queue_depth=128
        if [ -n "$secret" ]; then
            set -- "$@" node.session.auth.authmethod=CHAP "node.session.auth.username=$user" "node.session.auth.password=$secret"
        fi
        iscsiadm -m node -o new -T "$iqn" -p "$portal" > /dev/null
        for setting in "$@"; do
            iscsiadm -m node -o update -T "$iqn" -p "$portal" -n "${setting%%=*}" -v "${setting#*=}"
        done
        show iscsiadm -m node -T "$iqn" -p "$portal" -l
    done < "$1"
}
