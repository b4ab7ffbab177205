"""Operations that users write: their C++, and the loops that the host's compiler makes of them."""
