/** The option `auth` of a server: how weir proves to it who it is, or who asks. */
import { type Static, Type } from "@sinclair/typebox";
import { clientKeyFault } from "../../../auth/client-identification.ts";
import { CLOSED, headerFault, oneOf, secret } from "../../../config/sections/kinds.ts";

const text = (description: string, examples?: readonly string[]) =>
  Type.Optional(Type.String({ description, ...(examples && { examples }) }));

/** How weir is known at an authorization server. */
const client = {
  client: text("Id of weir at the authorization server, as `client_id`."),
  secret: Type.Optional(secret("Secret of weir there.")),
  key: Type.Optional(
    secret("Private key of weir there, as PEM or JWK, in place of a secret (`private_key_jwt`)."),
  ),
  method: Type.Optional(
    oneOf(["basic", "post"], {
      description:
        "Where the secret goes: into a header (`basic`) or into the form (`post`). Default: what the authorization server wants.",
    }),
  ),
  issuer: text("Issuer of the authorization server. Default: the one that the server names.", [
    "https://auth.example.com",
  ]),
  scope: text("Scopes that weir asks for, with spaces between them. Default: those that the server names."),
};

const clientCredentials = Type.Object(
  { ...client, tokenUrl: text("Address of the token endpoint. Default: that of the metadata.") },
  { ...CLOSED, description: "weir gets a token for itself, by OAuth client credentials." },
);

const exchange = Type.Object(
  { ...client, tokenUrl: text("Address of the token endpoint. Default: that of the metadata.") },
  {
    ...CLOSED,
    description:
      "weir exchanges the token with which a caller shows itself for one of the server (RFC 8693). Callers with a key cannot use the server.",
  },
);

const user = Type.Object(client, {
  ...CLOSED,
  description:
    "Each caller connects an account of its own, by OAuth in the browser. Without `client` weir names itself by its document `/oauth/client.json`, or registers itself.",
});

export const auth = Type.Object(
  {
    bearer: Type.Optional(secret("Token that weir sends as `Authorization: Bearer`.")),
    headers: Type.Optional(
      Type.Record(Type.String(), secret("Value of the header."), {
        description: "Headers that weir sends with each request.",
      }),
    ),
    clientCredentials: Type.Optional(clientCredentials),
    user: Type.Optional(user),
    exchange: Type.Optional(exchange),
    clientHeader: text(
      "Header in which clients bring a credential of their own for the server. weir sends it on as `Authorization`.",
      ["x-mcp-github-token"],
    ),
  },
  { ...CLOSED, description: "How weir proves to the server who it is." },
);

export type AuthConfig = Static<typeof auth>;
export type ClientConfig = Static<typeof clientCredentials>;

/** Headers with credentials for weir, or with what it reads itself: no server gets them. */
const OWN =
  /^(authorization|proxy-.*|cookie2?|x-api-key|x-goog-api-key|x-weir-.*|mcp-.*|origin|x-forwarded-.*)$/i;

/** A fault below the option, and the members that lead to it. */
export interface AuthFaultAt {
  readonly clause: string;
  readonly at: readonly string[];
}

/** @param url the option `url` of the tools */
export function authFaults(written: Partial<AuthConfig>, url: string | undefined): AuthFaultAt[] {
  const {
    bearer,
    headers = {},
    clientCredentials: own,
    user: theirs,
    exchange: given,
    clientHeader: brought,
  } = written;
  const found: AuthFaultAt[] = [];
  const add = (clause: string, ...at: string[]) => void found.push({ clause, at });
  if ([bearer, own, theirs, given, brought].filter((one) => one !== undefined).length > 1)
    add("only one of bearer, clientCredentials, user, exchange and clientHeader can be given");
  if (brought !== undefined && (headerFault(brought, "") !== undefined || OWN.test(brought)))
    add("must be the name of a header that is for the server alone", "clientHeader");
  for (const name in headers) {
    const fault = headerFault(name, "");
    if (fault !== undefined) add(fault, "headers", name);
  }
  for (const [name, one] of Object.entries({ clientCredentials: own, user: theirs, exchange: given }))
    if (one) found.push(...clientFaults(one).map(({ clause, at }) => ({ clause, at: [name, ...at] })));
  for (const [name, one] of Object.entries({ clientCredentials: own, exchange: given }))
    if (one && (one.client === undefined || (one.secret === undefined && one.key === undefined)))
      add("needs client, and secret or key", name);
  if (theirs && url === undefined)
    add("user needs the option tools.url, to which browsers come back", "user");
  return found;
}

function clientFaults({
  client: id,
  secret: text,
  key,
  issuer,
  ...more
}: Partial<ClientConfig>): AuthFaultAt[] {
  const found: AuthFaultAt[] = [];
  const add = (clause: string, ...at: string[]) => void found.push({ clause, at });
  if ((text ?? key) !== undefined && id === undefined) add("secret and key need client");
  if (text !== undefined && key !== undefined) add("only one of secret and key can be given");
  const fault = key === undefined ? undefined : clientKeyFault(plain(key));
  if (fault !== undefined) add(fault, "key");
  for (const [name, address] of Object.entries({ issuer, tokenUrl: more.tokenUrl }))
    if (address !== undefined && !/^https?:$/.test(URL.parse(address)?.protocol ?? ""))
      add("must be an https:// URL", name);
  return found;
}

/** A secret as text: the process of the tools has texts already. */
export function plain(value: { reveal(): string } | string): string {
  return typeof value === "string" ? value : value.reveal();
}
