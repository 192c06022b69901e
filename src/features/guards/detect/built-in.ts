/** The detectors by their names. */
import type { BuiltIn } from "../declarations.ts";
import { card } from "./card.ts";
import type { Detector } from "./detector.ts";
import { email } from "./email.ts";
import { iban } from "./iban.ts";
import { ip } from "./ip.ts";

export const DETECTORS: Readonly<Record<BuiltIn, Detector>> = { email, card, iban, ip };
