/** Defaults of the flags of `weir drill`, which the help names too. */

export const DEFAULT_SECONDS = 60;
/** Runs mostly wait, so that several share a core. */
export const DEFAULT_PARALLEL = 4;
