#!/bin/sh
# confined.sh PYTHON [ARGUMENT]...: starts PYTHON as a hardened container would, in a mount namespace of its own: an account
# without an entry, an empty environment, everything read-only but 512 MB in /tmp, and 64 MB in /dev/shm.
set -e
prefix=$("$1" -c 'import sys; print(sys.base_prefix)')
mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/python /mnt/venv
case $prefix in /root/*) # a home that others may not enter: what holds the interpreter is laid bare
    mount --bind "$prefix" /mnt/python
    mount -t tmpfs -o mode=755 none /root
    mkdir -p "$prefix"
    mount --move /mnt/python "$prefix"
    ;;
esac
venv=
case $1 in /tmp/*) # a checkout in /tmp stays where it was
    venv=$(dirname "$(dirname "$1")")
    mount --bind "$venv" /mnt/venv
    ;;
esac
mount -t tmpfs -o mode=1777,size=512m none /tmp
if [ -n "$venv" ]; then
    mkdir -p "$venv"
    mount --move /mnt/venv "$venv"
fi
mount -t tmpfs -o mode=1777,size=64m,noexec none /dev/shm
mount -o remount,bind,ro /
exec setpriv --reuid 12345 --regid 12345 --clear-groups env -i PATH="$PATH" "$@"
