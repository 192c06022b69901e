/**
 * The options of weir without its features. The validator, `weir config schema`, `weir config show` and the table in README.md of
 * this folder are generated from them.
 *
 * `default` is the value when no layer sets the option. `x-flag` and `x-env` name the flag and the environment variable
 * that override the file; with `x-adds` they add to its list. `x-path` marks paths, `x-no-path` a word that is none. `writeOnly` marks secrets: weir never prints them and reads them into a {@link Secret}.
 */
import type { Static, TObject } from "@sinclair/typebox";
import type { Secret } from "../core/secret.ts";
import { Options } from "./options.ts";
import type { Addition } from "./section.ts";
import { CORE } from "./sections/index.ts";

/** The options of a build without features. */
export const CORE_OPTIONS = new Options(CORE);

/** @param features additions of the features in this build */
export const optionsWith = (features: readonly Addition[]): Options =>
  features.length === 0 ? CORE_OPTIONS : new Options(CORE, features);

/** The effective configuration, frozen. Sections of features are read by their keys: {@link Section.of}. */
export type Config = Static<TObject<{ [One in (typeof CORE)[number] as One["name"]]: One["schema"] }>>;
