/** Flags of a gateway that `weir exec` starts. With one of them it does not use a gateway that runs already. */
export const OWN_FLAGS = ["--config", "--plugins", "--state", "--log-level"];
