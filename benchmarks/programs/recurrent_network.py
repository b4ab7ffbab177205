"""A recurrent network that learns a text one character at a time, by truncated backpropagation and Adagrad."""

import gpunumpy as np

TEXT = "the first run of a program takes what the second takes, and a few tenths of a second more. "
LETTERS = sorted(set(TEXT))
LENGTH = 16
RATE = 0.1


def weights(rows, columns, seed):
    """Small numbers of both signs, the same in every library."""
    return 0.1 * np.sin(np.arange(rows * columns) * (12.9898 + seed)).reshape(rows, columns)


def learn(parameters, hidden, letters, following):
    """The loss over some letters, its gradients, and the state after them."""
    w_in, w_hidden, w_out, b_hidden, b_out = parameters
    states, shares, loss = [hidden], [], 0.0
    for letter, target in zip(letters, following):
        states.append(np.tanh(w_in[:, letter] + w_hidden @ states[-1] + b_hidden))
        score = w_out @ states[-1] + b_out
        share = np.exp(score - score.max())
        shares.append(share / share.sum())
        loss = loss - np.log(shares[-1][target])

    gradients = [np.zeros_like(p) for p in parameters]
    d_in, d_hidden, d_out, d_b_hidden, d_b_out = gradients
    d_next = np.zeros_like(hidden)
    for t in reversed(range(len(letters))):
        d_score = shares[t].copy()
        d_score[following[t]] -= 1.0
        d_out += np.outer(d_score, states[t + 1])
        d_b_out += d_score
        d_raw = (1.0 - states[t + 1] ** 2) * (w_out.T @ d_score + d_next)
        d_b_hidden += d_raw
        d_in[:, letters[t]] += d_raw
        d_hidden += np.outer(d_raw, states[t])
        d_next = w_hidden.T @ d_raw
    return loss, [np.clip(g, -5.0, 5.0) for g in gradients], states[-1]


def run(size=64, steps=50, progress=range):
    """Return the loss before each of `steps` updates of a network with `size` hidden units."""
    count = len(LETTERS)
    parameters = [weights(size, count, 0), weights(size, size, 1), weights(count, size, 2)]
    parameters += [np.zeros(size), np.zeros(count)]
    memory = [np.zeros_like(p) for p in parameters]
    numbers = [LETTERS.index(letter) for letter in TEXT]
    hidden, place, losses = np.zeros(size), 0, []
    for _ in progress(steps):
        if place + LENGTH + 1 > len(numbers):
            hidden, place = np.zeros(size), 0
        letters, following = numbers[place : place + LENGTH], numbers[place + 1 : place + LENGTH + 1]
        loss, gradients, hidden = learn(parameters, hidden, letters, following)
        for parameter, gradient, total in zip(parameters, gradients, memory):
            total += gradient**2
            parameter -= RATE * gradient / np.sqrt(total + 1e-8)
        losses.append(loss)
        place += LENGTH
    return np.stack(losses)
