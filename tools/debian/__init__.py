"""An ext2 image of Debian's i386 packages, made by an ordinary user on any host (`make image`, `make image-list`).

packages.txt pins every package: version, SHA-256, direct dependencies. `make image` needs nothing else: it selects what
PKGS needs (packages.py), downloads what is not in the cache (fetch.py), unpacks it (tree.py) and makes the image
(image.py). Only `make image-list` asks Debian which versions there are (renew.py): apt-get resolves the dependencies,
in a folder of its own, and verifies Debian's signature.
"""
