#!/usr/bin/env python3
"""Exports small JPEG files and what timm's evaluation makes of them, for tests/unit/workloads/image_preparation_test.cpp.

usage: python3 tests/peers/pillow/export_pictures.py [--out DIR]

Needs Pillow alone (made with Debian's python3-pil 9.4.0 and libjpeg-turbo 2.1.5); about 60 KB. The arithmetic around Pillow's
resize() is torchvision's: Resize(floor(size / 0.9), BICUBIC) of the shorter side, the longer one truncated; CenterCrop with
Python's round(), halves to even.

<name>.jpg  the picture
<name>.ppm  32 x 32 pixels, 8 bits, before normalization
"""
import argparse
import math
import pathlib

from PIL import Image

SIZE = 32


def picture(width, height):
    """Smooth colours, a sharp disc and stripes: all that a resampling kernel can get wrong."""
    image = Image.new("RGB", (width, height))
    for y in range(height):
        for x in range(width):
            u, v = x / max(1, width - 1), y / max(1, height - 1)
            if math.hypot(u - 0.6, v - 0.4) < 0.2:
                colour = (240, 30, 20)
            elif u < 0.3:
                colour = (20, 220, 90) if int(v * 16) % 2 else (10, 20, 160)
            else:
                colour = (int(255 * u), int(255 * v), int(128 + 100 * math.sin(9 * u * v)))
            image.putpixel((x, y), colour)
    return image


def evaluated(path):
    image = Image.open(path).convert("RGB")
    target = math.floor(SIZE / 0.9)
    width, height = image.size
    if width <= height:
        width, height = target, int(target * height / width)
    else:
        width, height = int(target * width / height), target
    image = image.resize((width, height), Image.BICUBIC)
    left, top = round((width - SIZE) / 2), round((height - SIZE) / 2)
    return image.crop((left, top, left + SIZE, top + SIZE))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent / "fixtures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    pictures = {
        "baseline": (picture(131, 97), {"quality": 90}),
        "progressive": (picture(74, 70), {"quality": 85, "progressive": True, "subsampling": 0}),
        "grey": (picture(60, 90).convert("L"), {"quality": 90}),
        "cmyk": (picture(50, 40).convert("CMYK"), {"quality": 95}),
        "tiny": (picture(1, 1), {}),
        "narrow": (picture(3, 120), {"quality": 90}),
        "large": (picture(640, 480), {"quality": 60}),
    }
    for name, (image, options) in pictures.items():
        path = out / f"{name}.jpg"
        image.save(path, "JPEG", **options)
        evaluated(path).save(out / f"{name}.ppm")


if __name__ == "__main__":
    main()
