/** The features of weir, for tests that start a gateway or read a config as its users do. */
import { optionsWith } from "../../src/config/schema.ts";
import { featuresIn, workersOf } from "../../src/feature/feature.ts";
import * as LIST from "../../src/features.ts";

export const FEATURES = featuresIn(LIST);
/** Sections of the config of all features. */
export const SECTIONS = FEATURES.flatMap(({ section }) => section ?? []);
/** The options of the full build. */
export const OPTIONS = optionsWith(SECTIONS);
export const WORKERS = workersOf(FEATURES);
