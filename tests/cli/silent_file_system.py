# SPDX-FileCopyrightText: The Assay developers
# SPDX-License-Identifier: Apache-2.0
"""A file system that never answers, for tests of what must not hang: whoever touches a path on it waits in the kernel until
`close()`, and can't be killed. Needs the right to mount FUSE in a mount namespace of its own (OSError without it). Trap: this
process must not touch a path on it either."""
import ctypes
import os
import select
import struct
import threading

CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE, MNT_DETACH = 0x4000, 0x40000, 2
libc = ctypes.CDLL(None, use_errno=True)


def call(function, *arguments):
    if function(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


class SilentFileSystem:
    """A FUSE mount that answers its first question (INIT) and never another one."""

    def __init__(self, folder):
        self.folder = folder
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        try:
            call(libc.unshare, CLONE_NEWNS)
            call(libc.mount, b"none", b"/", None, MS_REC | MS_PRIVATE, None)
            options = f"fd={self.device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
            call(libc.mount, b"assay-test", os.fsencode(folder), b"fuse", 0, options.encode())
        except OSError:
            os.close(self.device)
            raise
        self.asked, self.closing = threading.Event(), threading.Event()
        os.set_blocking(self.device, False)
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()

    def listen(self):
        while not self.closing.is_set():
            if not select.select([self.device], [], [], 0.05)[0]:
                continue
            try:
                request = os.read(self.device, 1 << 20)
            except BlockingIOError:
                continue
            except OSError:
                return
            opcode, unique = struct.unpack_from("<IQ", request, 4)
            if opcode == 26:  # INIT: version 7.31, nothing special
                body = struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0, 0)
                os.write(self.device, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
            else:
                self.asked.set()

    def close(self):
        # All who wait get an error now, and go. Nobody may be reading meanwhile: that would keep the device open.
        if not self.closing.is_set():
            self.closing.set()
            self.listener.join()
            os.close(self.device)
            libc.umount2(os.fsencode(self.folder), MNT_DETACH)
