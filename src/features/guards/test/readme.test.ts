/** The table of what guards find is made from the detectors. */
import { test } from "bun:test";
import { checkPart, markdownTable } from "../../../../test/helpers/documents.ts";
import { BUILT_IN, type BuiltIn } from "../declarations.ts";
import { detectorOf } from "../detect/built-in.ts";

/** What tells that a text is a value. */
const TOLD_BY: Readonly<Record<BuiltIn, string>> = {
  email: "its form",
  phone: "`+` and a number that its country has; with `regions: [DE, US]` also as it is written there",
  card: "issuer, length and check digit",
  iban: "country, length and check digits",
  "ssn-us": "ranges that are given",
  "nino-uk": "prefixes that are given",
  "tax-de": "check digit",
  "insee-fr": "check digits",
  "cpf-br": "check digits",
  "aadhaar-in": "check digit",
  "pesel-pl": "check digit",
  "dni-es": "check letter",
  "sin-ca": "check digit",
  "codice-fiscale-it": "check letter",
  ip: "its form; `privateIps: false` leaves out private networks",
  mac: "its form",
  "url-credentials": "`scheme://user:password@host`, `?api_key=`",
  secrets: "the rules of [gitleaks](detect/secrets/LICENSE.gitleaks) for vendors; a name and randomness",
  invisible: "tag characters, controls of direction, characters without width, escapes of terminals",
};

test("the table of what guards find has each detector", async () => {
  const rows = BUILT_IN.map((name) => [`\`${name}\``, `\`PII_${detectorOf(name).kind}_…\``, TOLD_BY[name]]);
  await checkPart(
    "src/features/guards/README.md",
    "found",
    markdownTable(["`find`", "token", "what tells that it is one"], rows),
  );
});
