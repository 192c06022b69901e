/** Stands for a date of release that is not known, where clients need one. Unix seconds. */
export const SOME_DATE = 1_700_000_000;
