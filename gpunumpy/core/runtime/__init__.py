"""The runtime layer: devices, their memory, and the plans that compute recorded values on them."""
