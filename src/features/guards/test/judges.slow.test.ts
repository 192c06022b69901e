/** Detectors find what generators of test data make: faker for JavaScript and Python, judged by libphonenumber. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NATIONAL_IDS } from "../declarations.ts";
import { detectorOf } from "../detect/built-in.ts";
import type { Detector } from "../detect/detector.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-faker-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LOCALES =
  "en_US de_DE fr_FR es_ES it_IT nl_NL pl_PL pt_BR en_GB sv_SE da_DK no_NO cs_CZ ja_JP zh_CN en_IN tr_TR el_GR fi_FI hu_HU".split(
    " ",
  );
const EACH = 500;

const PYTHON = `
import json, sys
from faker import Faker
out = {}
for locale in sys.argv[2:]:
    fake = Faker(locale)
    Faker.seed(28)
    each = range(int(sys.argv[1]))
    out[locale] = {
        "phone": [fake.phone_number() for _ in each],
        "email": [fake.email() for _ in each],
        "card": [fake.credit_card_number() for _ in each],
        "iban": [fake.iban() for _ in each] if hasattr(fake, "iban") else [],
        "ip": [fake.ipv4() for _ in each] + [fake.ipv6() for _ in each],
    }
national = {
    "ssn-us": lambda: Faker("en_US").ssn(),
    "nino-uk": lambda: Faker("en_GB").ssn(),
    "insee-fr": lambda: Faker("fr_FR").ssn(),
    "cpf-br": lambda: Faker("pt_BR").cpf(),
    "pesel-pl": lambda: Faker("pl_PL").pesel(),
    "dni-es": lambda: Faker("es_ES").nif(),
    "sin-ca": lambda: Faker("en_CA").ssn(),
    "codice-fiscale-it": lambda: Faker("it_IT").ssn(),
}
out["en_US"].update({name: [make() for _ in range(40)] for name, make in national.items()})
print(json.dumps(out))
`;

type Made = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
type Valid = (text: string, region: string) => boolean;

let ofPython: Made | undefined;
let ofJavaScript: Made | undefined;
let isValid: Valid | undefined;

beforeAll(async () => {
  writeFileSync(join(folder, "package.json"), "{}");
  if (!(await done(["bun", "add", "--exact", "@faker-js/faker@10.6.0", "libphonenumber-js@1.13.16"]))) return;
  const { parsePhoneNumberFromString } = (await import(
    join(folder, "node_modules/libphonenumber-js/max/index.cjs")
  )) as {
    parsePhoneNumberFromString: (text: string, region: string) => { isValid(): boolean } | undefined;
  };
  isValid = (text, region) => parsePhoneNumberFromString(text, region)?.isValid() === true;
  ofJavaScript = await madeByJavaScript();
  const python = join(folder, "python/bin/python");
  if (!(await done(["python3", "-m", "venv", "python"]))) return;
  if (!(await done([python, "-m", "pip", "install", "--quiet", "faker==40.1.0"])))
    await done([python, "-m", "pip", "install", "--quiet", "faker"]);
  const child = Bun.spawn([python, "-c", PYTHON, String(EACH), ...LOCALES], {
    stdout: "pipe",
    stderr: "ignore",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) === 0) ofPython = JSON.parse(text) as Made;
}, 300_000);

async function done(command: string[]): Promise<boolean> {
  const child = Bun.spawn(command, { cwd: folder, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  return (await child.exited) === 0;
}

/** Faker for Python makes Danish and British accounts with 20 and 21 characters: ISO 13616 has 18 and 22. */
const NO_ACCOUNT = /^(?:DK.{18}|GB.{18,19})$/;

interface Faker {
  seed(seed: number): void;
  internet: { email(): string; ipv4(): string; ipv6(): string };
  phone: { number(options: { style: string }): string };
  finance: { creditCardNumber(): string; iban(options?: object): string };
}

async function madeByJavaScript(): Promise<Made> {
  const fakers = (
    (await import(join(folder, "node_modules/@faker-js/faker"))) as { allFakers: Record<string, Faker> }
  ).allFakers;
  const made: Record<string, Record<string, string[]>> = {};
  for (const locale of LOCALES) {
    const faker =
      fakers[{ no_NO: "nb_NO", en_IN: "en_IN" }[locale] ?? locale] ?? fakers[locale.split("_")[0]!]!;
    faker.seed(28);
    const each = <Value>(make: () => Value) => Array.from({ length: EACH }, make);
    made[locale] = {
      phone: ["national", "international"].flatMap((style) => each(() => faker.phone.number({ style }))),
      email: each(() => faker.internet.email()),
      card: each(() => faker.finance.creditCardNumber()),
      iban: [...each(() => faker.finance.iban()), ...each(() => faker.finance.iban({ formatted: true }))],
      ip: [...each(() => faker.internet.ipv4()), ...each(() => faker.internet.ipv6())],
    };
  }
  return made;
}

const LEAST: Readonly<Record<string, number>> = {
  email: 0.999,
  card: 0.999,
  iban: 0.999,
  ip: 0.995,
  phone: 0.98,
};

/** Whether a sentence around a value has it, and it alone. */
function findsAlone(detector: Detector, value: string): boolean {
  const text = `Please note: ${value}, thanks`;
  const found = detector.find(text);
  return found.length === 1 && text.slice(found[0]!.start, found[0]!.end) === value.trim();
}

for (const [name, made] of [
  ["faker of JavaScript", () => ofJavaScript],
  ["faker of Python", () => ofPython],
] as const)
  for (const kind of ["email", "card", "iban", "ip", "phone"] as const)
    test(`${kind} of ${name} in ${LOCALES.length} locales`, () => {
      const values = made();
      if (!values || !isValid) return console.log("skipped: the packages cannot be installed");
      let all = 0;
      const missed: string[] = [];
      for (const [locale, by] of Object.entries(values)) {
        const region = locale.slice(3);
        const detector = detectorOf(kind, { regions: [region] });
        for (const value of by[kind] ?? []) {
          if (kind === "phone" && !isValid(value, region)) continue;
          if (kind === "iban" && NO_ACCOUNT.test(value)) continue;
          all++;
          if (!findsAlone(detector, value)) missed.push(`${locale} ${value}`);
        }
      }
      const some = missed.filter((_, at) => at % Math.ceil(missed.length / 12) === 0);
      console.log(`${kind}: ${all - missed.length} of ${all}; missed: ${some.join(" | ")}`);
      expect(all).toBeGreaterThan(1_000);
      expect(1 - missed.length / all).toBeGreaterThanOrEqual(LEAST[kind]!);
    });

/** It makes none of Germany, and those of India with other check digits. */
const OTHERS = ["tax-de", "aadhaar-in"];

test("numbers of persons of faker of Python", () => {
  if (!ofPython) return console.log("skipped: the packages cannot be installed");
  for (const name of NATIONAL_IDS) {
    // It makes British numbers that are not given.
    const made = (ofPython.en_US![name] ?? []).map((value) => value.replace(/^ZZ(.*)T$/, "AB$1A"));
    // Canada gives numbers with 0 to no one, and those with 8 to firms.
    const values = made.filter((value) => name !== "sin-ca" || !/^[08]/.test(value));
    const missed = values.filter((value) => !findsAlone(detectorOf(name), value));
    if (!OTHERS.includes(name)) expect(values.length).toBeGreaterThan(10);
    expect({ name, missed }).toEqual({ name, missed: [] });
  }
});
