/** The features of weir, for tests that start a gateway or read a config as its users do. */
import { References } from "../../src/config/references.ts";
import { optionsWith } from "../../src/config/schema.ts";
import {
  additionsOf,
  columnsOf,
  featuresIn,
  headersOf,
  pluginsOf,
  referencesOf,
  workersOf,
} from "../../src/feature/feature.ts";
import * as LIST from "../../src/features.ts";
import { columnsWith } from "../../src/run/columns.ts";

export const FEATURES = featuresIn(LIST);
/** Sections and options of keys of all features. */
export const SECTIONS = additionsOf(FEATURES);
/** The options of the full build. */
export const OPTIONS = optionsWith(SECTIONS);
/** The columns of the full build: those of features, and all. */
export const OWN_COLUMNS = columnsOf(FEATURES);
export const COLUMNS = columnsWith(OWN_COLUMNS);
export const HEADERS = headersOf(FEATURES);
export const OWN_PLUGINS = pluginsOf(FEATURES);
/** Those of a process that has read nothing. */
export const newReferences = (): References =>
  new References(referencesOf(FEATURES) ?? { kinds: [], load: () => Promise.reject(new Error("none")) });
export const WORKERS = workersOf(FEATURES);
