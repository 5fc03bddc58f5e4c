#!/usr/bin/env bash
# tools/hosts/bare.sh RELEASE FOLDER [ARCHITECTURE]: makes a bare Debian, or one of the releases of Ubuntu in UBUNTU, in a folder:
# make, git, sudo, and what debootstrap installs. It has an ordinary user, student, who may use sudo, and the settings through which
# this machine reaches its packages: certificates, host names, and settings of apt, pip and npm. ARCHITECTURE, by default this
# machine's, can be arm64 where the kernel runs such programs with qemu-user.

set -eu
release=$1 place=$2
home_settings=(.npmrc .netrc .pip .config/pip)

UBUNTU=' jammy noble '
UBUNTU_MIRROR=http://archive.ubuntu.com/ubuntu
UBUNTU_KEYS=pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb
UBUNTU_KEYS_SHA256=80a36b0a6de2f69f49d2df75ef473ccde121e9e190b9ea01d20a4f63778d5c31 # of the keyring in it

# The Debian mirror that this machine's apt uses, if it is a Debian.
mirror() {
	apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 2>/dev/null |
		awk '$2 == "Debian" && $3 == "Debian" { found = $1 } END { print found ? found : "http://deb.debian.org/debian" }'
}

# Fetches the keys with which Ubuntu signs its archive into the file $1.
ubuntu_keys() {
	local folder
	folder=$(mktemp -d)
	python3 -c 'import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])' "$UBUNTU_MIRROR/$UBUNTU_KEYS" "$folder/deb"
	dpkg-deb -x "$folder/deb" "$folder"
	cp "$folder/usr/share/keyrings/ubuntu-archive-keyring.gpg" "$1"
	rm -r "$folder"
	echo "$UBUNTU_KEYS_SHA256  $1" | sha256sum --check
}

unpack() {
	local options=(--arch="${3:-$(dpkg --print-architecture)}" --variant=minbase --include=make,git,sudo,ca-certificates)

	if [[ $UBUNTU == *" $1 "* ]]; then
		ubuntu_keys "$2.keys"
		# gutsy is debootstrap's name for how every later Ubuntu is unpacked.
		debootstrap "${options[@]}" --components=main,universe --keyring="$2.keys" "$1" "$2" $UBUNTU_MIRROR gutsy
	else
		debootstrap "${options[@]}" "$1" "$2" "$(mirror)"
	fi
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

unpack "$@"
carry_settings
chroot "$place" update-ca-certificates
add_student
