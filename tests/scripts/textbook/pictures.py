"""A picture made, saved, read, blurred and compared, with Pillow."""

import numpy as np
from PIL import Image

rows, columns = np.indices((48, 64))
red = (255 * rows / rows.max()).astype(np.uint8)
green = (255 * columns / columns.max()).astype(np.uint8)
blue = np.where((rows // 8 + columns // 8) % 2 == 0, 255, 0).astype(np.uint8)
Image.fromarray(np.dstack([red, green, blue])).save("made.png")

picture = np.asarray(Image.open("made.png"), dtype=float)
print(picture.shape, picture.dtype, isinstance(picture, np.ndarray))
padded = np.pad(picture, ((1, 1), (1, 1), (0, 0)), mode="edge")
blurred = sum(padded[i : i + 48, j : j + 64] for i in range(3) for j in range(3)) / 9
print("mean of each channel:", blurred.mean(axis=(0, 1)).round(2))
Image.fromarray(blurred.round().astype(np.uint8), mode=None).resize((32, 24)).save("blurred.png")
grey = Image.fromarray(blurred.mean(axis=2).astype(np.uint8))
print(grey.mode, grey.size, np.array(grey).max())
grey.putdata(np.sort(np.asarray(grey).ravel()))
print(np.asarray(grey)[::16, ::16])
