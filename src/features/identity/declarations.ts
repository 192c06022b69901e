/** The schema of the section: issuers of tokens, and what weir grants to those whom they name. */
import { type Static, Type } from "@sinclair/typebox";
import { CLOSED, oneOf, secret } from "../../config/sections/kinds.ts";
import { clients } from "./own/declarations.ts";
import { declaredPerson, grantsSchema } from "./declared/declarations.ts";
import { keyPolicySchema } from "./me/section.ts";
import { scim } from "./scim/section.ts";

/** Algorithms that an entry without `algorithms` accepts. */
export const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
] as const;

const text = (description: string) => Type.String({ description });

const wanted = (description: string) =>
  Type.Optional(
    Type.Record(
      Type.String(),
      Type.Union(
        [
          Type.String(),
          Type.Number(),
          Type.Boolean(),
          Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), { minItems: 1 }),
        ],
        { "x-expects": "a text, a number, true or false, or a list of them" },
      ),
      { description },
    ),
  );

const texts = (description: string) =>
  Type.Optional(
    Type.Array(Type.String(), { minItems: 1, "x-expects": "a list of at least one text", description }),
  );

const group = grantsSchema(
  (role) => `The path on which the group is ${role}; \`{1}\` is what the first \`*\` stands for.`,
);

const duration = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: "^[1-9]\\d{0,5}[smhd]$",
      "x-expects": "a duration such as 90s, 15m, 1h or 30d",
      description,
    }),
  );

const scopes = Type.Object(
  {
    models: texts("The models, by any of their names; `*` stands for any text."),
    providers: texts("The providers, fallbacks included."),
    endpoints: texts(
      "What they may call: ids of client formats, `embeddings`, `count`, `models`, `explain`.",
    ),
    addresses: texts("Addresses or blocks of clients: `10.0.0.0/8`."),
    maxTokens: Type.Optional(Type.Integer({ minimum: 1, description: "Most output tokens of one call." })),
  },
  CLOSED,
);

/** What providers and other issuers have in common. */
const common = {
  issuer: text("As the claim `iss` has it, to the last slash. `http://` only for addresses of this machine."),
  jwks: Type.Optional(
    text(
      "Address of the public keys, or a file with them. Default: the one that the issuer's metadata names.",
    ),
  ),
  algorithms: Type.Optional(
    Type.Array(oneOf(ALGORITHMS, {}), { minItems: 1, description: "Default: all that are listed here." }),
  ),
  subject: Type.Optional(
    text("Claim with the permanent id of a person or workload. Default `sub`; Entra's is `oid`."),
  ),
  groups: Type.Optional(
    Type.Record(Type.String(), group, {
      description:
        "What groups are granted, by name: `{member: /teams/{1}}`. `*` in the name stands for any text. Members, managers and admins may use models.",
    }),
  ),
  scopes: Type.Optional(scopes),
  idTokens: Type.Optional(
    Type.Boolean({
      description: "Whether calls may send ID tokens too, which are meant for a sign-in. Default false.",
    }),
  ),
  maxAge: duration("A token is refused this long after it was issued, whatever its end says."),
  introspect: Type.Optional(
    Type.Object(
      {
        url: text("Address of the endpoint."),
        client: text("Id of weir at the issuer."),
        secret: secret("Its secret there."),
      },
      {
        ...CLOSED,
        description:
          "Where the issuer says whether a token is still good (RFC 7662). weir asks for each token once a minute, which takes time of the call; an issuer that is away is believed for five minutes.",
      },
    ),
  ),
  lifetime: duration("Tokens that are valid for longer are refused. Default `24h`."),
};

const map = {
  name: Type.Optional(
    text("Claim with the name of the person. Default: `name`, else `preferred_username`, `email`."),
  ),
  groups: Type.Optional(
    text("Claim with the groups: a name, or a pointer such as `/realm_access/roles`. Default `groups`."),
  ),
};

const provider = Type.Object(
  {
    ...common,
    audience: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })], {
        "x-expects": "a text, or a list of texts",
        description: "Calls may send access tokens of the provider for this audience. Absent: no calls.",
      }),
    ),
    client: Type.Optional(
      text("Id of weir at the provider. With `secret` and `identity.url` people sign in to the console."),
    ),
    secret: Type.Optional(secret("Secret of weir at the provider.")),
    method: Type.Optional(
      oneOf(["basic", "post", "private_key_jwt"], {
        description:
          "How weir says who it is at the token endpoint: with `secret` in a header or in the form, or with a text that `key` signs. Default: `basic`, unless the provider's metadata names `client_secret_post` without it.",
      }),
    ),
    key: Type.Optional(
      secret(
        "Private key of weir for the method `private_key_jwt`, as PEM or JWK: EC of the curve P-256, or RSA. The provider has the public one.",
      ),
    ),
    par: Type.Optional(
      Type.Boolean({
        description:
          "Whether weir sends its requests to the provider by itself first (RFC 9126), so that no browser can change them. Default: where the provider's metadata demands it.",
      }),
    ),
    ask: texts("Scopes that weir asks for. Default `openid`, `profile`, `email`."),
    prompt: Type.Optional(
      Type.String({
        pattern: "^[a-z_]{1,20}( [a-z_]{1,20}){0,3}$",
        "x-expects": "words such as consent",
        description:
          "What the provider asks people at each sign-in. Some give a refresh token with `consent` alone. Default: what the provider thinks fit.",
      }),
    ),
    require: wanted("Claims that must have these values: `{email_verified: true, hd: corp.example}`."),
    map: Type.Optional(
      Type.Object(
        {
          ...map,
          path: Type.Optional(text("Path of a person, with claims: default `/people/{email_local}`.")),
          graph: Type.Optional(
            Type.Union([Type.Boolean(), Type.String()], {
              "x-expects": "true or false, or an address",
              description:
                "Whether a sign-in asks Microsoft Graph for the ids of somebody's groups where Entra leaves them out of a token, which happens beyond 200; an address for a national cloud: `https://graph.microsoft.us`. Default false: such a sign-in is refused.",
            }),
          ),
        },
        CLOSED,
      ),
    ),
  },
  CLOSED,
);

const issuer = Type.Object(
  {
    name: Type.Optional(text("As records name it: `jwt/NAME`. Default: the host of the issuer.")),
    ...common,
    audience: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })], {
      "x-expects": "a text, or a list of texts",
      description: "What the claim `aud` must contain.",
    }),
    when: wanted('Claims that must have these values: `{repository_owner: corp, ref: "refs/heads/*"}`.'),
    path: text(
      "Path at which calls are booked, with claims: `/ci/{repository}`, `/k8s/{/kubernetes.io/namespace}`.",
    ),
    map: Type.Optional(Type.Object(map, CLOSED)),
  },
  CLOSED,
);

export const identity = Type.Object(
  {
    providers: Type.Record(Type.String(), provider, {
      default: {},
      propertyNames: { pattern: "^[a-z][a-z0-9-]{0,31}$" },
      examples: [
        {
          okta: {
            issuer: "https://corp.okta.com/oauth2/default",
            audience: "api://weir",
            groups: { "team-*": { member: "/teams/{1}" } },
          },
        },
      ],
      description: "Providers of OpenID Connect that know your people, by name.",
    }),
    jwt: Type.Array(issuer, {
      default: [],
      examples: [
        [
          {
            issuer: "https://token.actions.githubusercontent.com",
            audience: "weir",
            when: { repository_owner: "corp" },
            path: "/ci/{repository}",
          },
        ],
      ],
      description: "Issuers whose tokens calls may send as they send a key: of CI, of clusters, of clouds.",
    }),
    people: Type.Array(declaredPerson, {
      default: [],
      examples: [[{ provider: "okta", email: "ada@corp.example", grants: [{ admin: "/" }] }]],
      description:
        "People with roles that no group has. They hold as long as they are here, and cannot be changed elsewhere.",
    }),
    keys: Type.Array(keyPolicySchema(scopes), {
      default: [],
      examples: [[{ path: "/", maxPerPerson: 5, maxAge: "90d" }]],
      description: "Where people may make keys for themselves at `URL/console/me`. Default: nowhere.",
    }),
    unknown: oneOf(["refuse", "create"], {
      default: "refuse",
      description:
        "What happens to people whom no group lets use models. `create`: they may, if their path is below `create.under`.",
    }),
    create: Type.Object(
      {
        under: Type.String({
          default: "/people",
          description: "Where people may appear that no group lets use models, if `unknown` is `create`.",
        }),
      },
      CLOSED,
    ),
    url: Type.Optional(
      text(
        "Public address of the admin listener, where people sign in to the console: `https://weir.corp.example`.",
      ),
    ),
    session: Type.String({
      default: "12h",
      pattern: "^[1-9]\\d{0,5}[smhd]$",
      "x-expects": "a duration such as 8h",
      description:
        "How long somebody who signed in stays signed in. After two hours without use a session ends, too.",
    }),
    tokens: Type.Object(
      {
        secret: Type.Optional(
          secret(
            "At least 32 random characters, the same in all gateways: `openssl rand -hex 32`. With it and `url`, `POST /oauth/token` exchanges a token of an issuer for one of weir that is valid for an hour at most.",
          ),
        ),
        access: Type.String({
          default: "1h",
          pattern: "^[1-9]\\d{0,5}[smh]$",
          "x-expects": "a duration such as 15m, at most 1h",
          description: "How long a token is valid if the request does not say, and at most.",
        }),
        refresh: Type.String({
          default: "30d",
          pattern: "^[1-9]\\d{0,5}[smhd]$",
          "x-expects": "a duration such as 12h or 30d",
          description: "How long a program of a person may go without asking for the next token.",
        }),
      },
      { ...CLOSED, description: "weir's own tokens." },
    ),
    clients,
    scim,
    link: Type.Optional(
      oneOf(["email"], {
        description:
          "`email`: a user of SCIM without `externalId` is the person of the provider whose verified address is the user's. Default: no user is joined.",
      }),
    ),
    only: Type.Boolean({
      default: false,
      description:
        "Whether people sign in alone: no key is good for the console and the admin API, metrics aside. The command line on this machine and the links of `weir console` stay.",
    }),
    strict: Type.Boolean({
      default: false,
      description:
        "Whether tokens are refused while a worker has not heard for 5 s who is suspended, because the keeper is away.",
    }),
  },
  {
    ...CLOSED,
    description:
      "Calls with tokens of your identity provider, your CI or your cluster, instead of keys. Off while `providers` and `jwt` are empty.",
  },
);

export type IdentityConfig = Static<typeof identity>;
export type ProviderConfig = IdentityConfig["providers"][string];
export type PersonConfig = IdentityConfig["people"][number];
export type IssuerConfig = IdentityConfig["jwt"][number];
