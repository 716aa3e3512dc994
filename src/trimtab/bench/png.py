"""PNG files of small images, without an image library."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
TRUE_COLOUR = 2


def png(width: int, height: int, pixels: bytes) -> bytes:
    """The file of an image.

    Args:
        width: In pixels.
        height: In pixels.
        pixels: Red, green and blue of each pixel, row after row from the top.
    """
    if len(pixels) != 3 * width * height:
        raise ValueError(
            f"expected 3 x {width} x {height} = {3 * width * height} bytes, got {len(pixels)}"
        )
    step = 3 * width
    rows = b"".join(b"\0" + pixels[place : place + step] for place in range(0, len(pixels), step))
    head = struct.pack(">IIBBBBB", width, height, 8, TRUE_COLOUR, 0, 0, 0)
    parts = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b""))
    return SIGNATURE + b"".join(parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
