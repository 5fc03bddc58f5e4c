#!/usr/bin/env bash
# tools/hosts/bare.sh RELEASE FOLDER [ARCHITECTURE]: makes a bare Debian in a folder: make, git, sudo, and what debootstrap
# installs. It has an ordinary user, student, who may use sudo, and the settings through which this machine reaches its packages:
# certificates, host names, and settings of apt, pip and npm. ARCHITECTURE, by default this machine's, can be arm64 where the
# kernel runs such programs with qemu-user.

set -eu
release=$1 place=$2
home_settings=(.npmrc .netrc .pip .config/pip)

# The Debian mirror that this machine's apt uses, if it is a Debian.
mirror() {
	apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 2>/dev/null |
		awk '$2 == "Debian" && $3 == "Debian" { found = $1 } END { print found ? found : "http://deb.debian.org/debian" }'
}

carry_settings() {
	cp -L /etc/resolv.conf /etc/hosts "$place/etc"
	apt-config dump | grep -E '^Acquire::(Check-|Retries|https?::)' >"$place/etc/apt/apt.conf.d/90carried" || true
	for name in /etc/pip.conf /etc/npmrc /etc/apt/auth.conf.d /usr/local/share/ca-certificates; do
		[ ! -e $name ] || cp -rLT $name "$place$name"
	done
	for name in "${home_settings[@]}"; do
		[ ! -e "$HOME/$name" ] || { mkdir -p "$(dirname "$place/root/$name")" && cp -rLT "$HOME/$name" "$place/root/$name"; }
	done
}

add_student() {
	chroot "$place" useradd --create-home --shell /bin/bash student
	echo 'student ALL=(ALL) NOPASSWD: ALL' >"$place/etc/sudoers.d/student"
	cp -rT "$place/root" "$place/home/student"
	chroot "$place" chown -R student: /home/student
}

debootstrap --arch="${3:-$(dpkg --print-architecture)}" --variant=minbase --include=make,git,sudo,ca-certificates "$release" "$place" "$(mirror)"
carry_settings
chroot "$place" update-ca-certificates
add_student
