/** The options of SCIM, and their faults. */
import { Type } from "@sinclair/typebox";
import { type Fault, faultAt } from "../../../config/error.ts";
import { CLOSED, secret } from "../../../config/sections/kinds.ts";

const MIN_TOKEN = 32;

export const scim = Type.Object(
  {
    token: Type.Optional(
      secret(
        `At least ${MIN_TOKEN} random characters, which the provider sends: \`openssl rand -hex 32\`. Absent: there is no SCIM.`,
      ),
    ),
    provider: Type.Optional(
      Type.String({
        examples: ["okta"],
        description:
          "The provider whose people and groups they are, by its name. Default: the one with a `client` or an `audience`, if there is one only.",
      }),
    ),
  },
  {
    ...CLOSED,
    default: {},
    description: "Lets a provider create, change and suspend people at `/scim/v2` of the admin listener.",
  },
);

interface Named {
  readonly client?: string;
  readonly audience?: string | readonly string[];
}

/** The name of the provider; undefined: the config does not say which. */
export function scimProvider(
  named: string | undefined,
  providers: Readonly<Record<string, Named>>,
): string | undefined {
  if (named !== undefined) return Object.hasOwn(providers, named) ? named : undefined;
  const used = Object.keys(providers).filter(
    (name) => providers[name]!.client !== undefined || providers[name]!.audience !== undefined,
  );
  return used.length === 1 ? used[0] : undefined;
}

interface Written {
  readonly scim?: { readonly token?: string; readonly provider?: string };
  readonly link?: string;
  readonly providers?: Readonly<Record<string, Named>>;
}

export function scimFaults({ scim: written = {}, link, providers = {} }: Written): Fault[] {
  const at = ["identity", "scim"];
  const { token, provider } = written;
  if (token === undefined)
    return faultAt(
      ["identity", "link"],
      link === "email" ? "link is for users of SCIM: it needs scim.token" : undefined,
    );
  const names = Object.keys(providers);
  const listed = names.length === 0 ? "there is none in identity.providers" : `one of ${names.join(", ")}`;
  const clause =
    provider === undefined
      ? `scim does not say whose people they are; write provider: ${listed}`
      : `provider ${JSON.stringify(provider)} is not known: ${listed}`;
  return [
    ...faultAt(
      [...at, "token"],
      token.length < MIN_TOKEN
        ? `token must have at least ${MIN_TOKEN} characters; make one with: openssl rand -hex 32`
        : undefined,
    ),
    ...faultAt(
      provider === undefined ? at : [...at, "provider"],
      scimProvider(provider, providers) === undefined ? clause : undefined,
    ),
  ];
}
