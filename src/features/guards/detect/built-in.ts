/** The detectors by their names. */
import type { BuiltIn, NationalId } from "../declarations.ts";
import { card } from "./card.ts";
import type { Detector } from "./detector.ts";
import { email } from "./email.ts";
import { iban } from "./iban.ts";
import { invisible } from "./invisible.ts";
import { ip, publicIp } from "./ip.ts";
import { mac } from "./mac.ts";
import { NATIONAL_DETECTORS } from "./national.ts";
import { patternDetector } from "./pattern.ts";
import { phoneDetector } from "./phone/index.ts";
import { wordsDetector } from "./words.ts";
import { urlCredentials } from "./url-credentials.ts";

/** What the option `find` lists. */
export type Find =
  | BuiltIn
  | { readonly name: string; readonly pattern: string; readonly longest?: number }
  | { readonly name: string; readonly words: readonly string[] };

/** What a guard says of all that it finds. */
export interface FindOptions {
  /** Whose own forms of telephone numbers are found. */
  readonly regions?: readonly string[] | undefined;
  /** Whether addresses of private networks are found. Default: yes. */
  readonly privateIps?: boolean | undefined;
}

const DETECTORS: Readonly<Record<Exclude<BuiltIn, NationalId>, (options: FindOptions) => Detector>> = {
  email: () => email,
  phone: ({ regions }) => phoneDetector(regions),
  card: () => card,
  iban: () => iban,
  ip: ({ privateIps = true }) => (privateIps ? ip : publicIp),
  mac: () => mac,
  "url-credentials": () => urlCredentials,
  invisible: () => invisible,
  // Its rules are read when a guard has it.
  secrets: () => (require("./secrets/index.ts") as typeof import("./secrets/index.ts")).secrets,
};

export function detectorOf(find: Find, options: FindOptions = {}): Detector {
  if (typeof find === "string")
    return isNational(find) ? NATIONAL_DETECTORS.get(find)! : DETECTORS[find](options);
  if ("words" in find) return wordsDetector(find.name, find.words);
  return patternDetector(find.name, find.pattern, find.longest);
}

function isNational(name: BuiltIn): name is NationalId {
  return NATIONAL_DETECTORS.has(name);
}
