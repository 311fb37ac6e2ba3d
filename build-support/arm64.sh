#!/bin/sh
# Puts into DIRECTORY what builds the native library for arm64 on x86-64, and what runs it there, as Debian's packages have it: a Rust
# compiler with the standard library for aarch64-unknown-linux-gnu, an emulator of the processor, and a Java for it. Needs no root and
# installs nothing outside of DIRECTORY. Does nothing if all of that is there.
#
#     arm64.sh DIRECTORY
#
# DIRECTORY/bin has rustc and emulate, which runs a program for arm64; DIRECTORY/java is a JAVA_HOME whose bin/java is emulated.
# DIRECTORY/ready is written last.
set -eu

say() { printf 'arm64: %s\n' "$*" >&2; }

mkdir -p "$1"
cd "$1"
here=$(pwd)
if [ -e ready ]; then
  exit 0
fi
if ! command -v apt-get >/dev/null 2>&1 || [ "$(dpkg --print-architecture)" != amd64 ]; then
  say "the packages are Debian's, for x86-64; elsewhere 'rustup target add aarch64-unknown-linux-gnu' brings the compiler"
  exit 1
fi
rm -rf apt packages host root bin java
mkdir -p apt/lists/partial apt/archives/partial packages host root bin java/bin
log=$here/log

# Lists of both architectures, in a folder of their own: the machine's stay as they are.
with_apt() {
  program=$1
  shift
  "$program" -q -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -o Dir::State::lists="$here/apt/lists" -o Dir::Cache="$here/apt" \
    -o APT::Sandbox::User=root "$@"
}
say "downloading a Rust compiler, an emulator and a Java for arm64 (300 MB)"
with_apt apt-get update >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
# The compiler's own library, whose name has the version in it, and what it is linked with, apart from what every Debian has.
library=$(with_apt apt-cache depends libstd-rust-web-dev | sed -n 's/^ *Depends: \(libstd-rust-web-[0-9.]*\)$/\1/p')
linked=$(with_apt apt-cache depends --recurse --important "$library" | grep '^lib' | grep -vE '^(libc6|libgcc-s1|libstdc\+\+6)$')
(cd packages && with_apt apt-get download rustc-web libstd-rust-web-dev libstd-rust-web-dev:arm64 $linked qemu-user-static \
  openjdk-17-jre-headless:arm64 libc6:arm64 libgcc-s1:arm64 libstdc++6:arm64 zlib1g:arm64) >"$log" 2>&1 || { cat "$log" >&2; exit 1; }

for package in packages/*.deb; do
  case $package in
    */qemu-user-static_*) dpkg-deb --fsys-tarfile "$package" | tar -x -C host ./usr/bin/qemu-aarch64-static ;;
    */*rust-web*_arm64.deb | *_amd64.deb) dpkg-deb -x "$package" host ;;
    *) dpkg-deb -x "$package" root ;;
  esac
done
# An absolute link would lead to a file of this machine.
find root -type l | while read -r link; do
  target=$(readlink "$link")
  case $target in
    /*) ln -sfn "$here/root$target" "$link" ;;
  esac
done

program() {
  cat >"$1"
  chmod +x "$1"
}
program bin/rustc <<END
#!/bin/sh
LD_LIBRARY_PATH='$here/host/usr/lib/x86_64-linux-gnu' exec '$here/host/usr/bin/rustc' --sysroot '$here/host/usr' "\$@"
END
# The processor of many servers, without the instructions that emulation makes slow.
program bin/emulate <<END
#!/bin/sh
exec '$here/host/usr/bin/qemu-aarch64-static' -cpu neoverse-n1 -L '$here/root' "\$@"
END
# The helper by which Java starts programs is a program for arm64, which this machine would have to run.
program java/bin/java <<END
#!/bin/sh
exec '$here/bin/emulate' '$here/root/usr/lib/jvm/java-17-openjdk-arm64/bin/java' -Djdk.lang.Process.launchMechanism=VFORK "\$@"
END
java/bin/java -version >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
rm -rf apt packages
touch ready
