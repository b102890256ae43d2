# SPDX-License-Identifier: MIT
"""A client that begins to speak HTTP/2 while the daemon shuts down does not keep it from ending.

Usage: shutdown.py SOCKET PID
"""
import os, signal, socket, sys, time

client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
os.kill(int(sys.argv[2]), signal.SIGTERM)
try:
    client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0")
    client.settimeout(20)
    while client.recv(4096):
        pass
except (BrokenPipeError, ConnectionResetError):
    pass
print("ok")
