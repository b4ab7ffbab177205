"""The forward pass of a small transformer in float32: causal attention and a layer of neurons in every block."""

import gpunumpy as np

WIDTH, HEADS, VOCABULARY = 128, 4, 256


def weights(rows, columns, seed):
    """Numbers of both signs with a variance of about one over `rows`, the same in every library."""
    numbers = np.sin(np.arange(rows * columns) * (12.9898 + seed)).reshape(rows, columns)
    return (numbers * (2.0 / rows) ** 0.5).astype(np.float32)


def normalized(x):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + np.float32(1e-5))


def gelu(x):
    """The usual approximation by tanh."""
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(x, mask, w_qkv, w_out):
    length = len(x)
    q, k, v = (x @ w_qkv).reshape(length, 3, HEADS, WIDTH // HEADS).transpose(1, 2, 0, 3)
    scores = q @ k.transpose(0, 2, 1) / np.float32((WIDTH // HEADS) ** 0.5) + mask
    return (softmax(scores) @ v).transpose(1, 0, 2).reshape(length, WIDTH) @ w_out


def run(size=128, steps=4, progress=range):
    """Return the probabilities of the letter after each of `size` letters, from `steps` blocks."""
    letters = np.arange(size) * 31 % VOCABULARY
    embedding = weights(VOCABULARY, WIDTH, 0)
    place = np.arange(size)[:, None] / 10000 ** (np.arange(WIDTH) / WIDTH)
    x = embedding[letters] + np.sin(place).astype(np.float32)
    later = np.arange(size)[None, :] > np.arange(size)[:, None]
    mask = np.where(later, np.float32(-1e9), np.float32(0))
    for block in progress(steps):
        w_qkv, w_out, w_up, w_down = (
            weights(rows, columns, 4 * block + n)
            for n, (rows, columns) in enumerate(
                ((WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)), 1
            )
        )
        x = x + attention(normalized(x), mask, w_qkv, w_out)
        x = x + gelu(normalized(x) @ w_up) @ w_down
    return softmax(normalized(x) @ embedding.T)
