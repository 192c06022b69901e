/** The most tokens of an image that most vendors count. */
export const IMAGE_TOKENS = 1600;
