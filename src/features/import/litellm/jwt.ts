/** `enable_jwt_auth` and `litellm_jwtauth`: tokens of an identity provider in place of keys. */
import type { Reading } from "../reader.ts";
import { applyRules, none, type Rules, type SettingRule } from "../settings.ts";
import type { SourceNode } from "../source.ts";

/** Name of the provider in weir. */
const NAME = "litellm";
const AT = ["identity", "providers", NAME];

/** https://docs.litellm.ai/docs/proxy/token_auth */
const RULES: Rules = {
  user_id_jwt_field: claim("subject"),
  team_ids_jwt_field: groups,
  team_id_jwt_field: groups,
  user_id_upsert: (node, { draft }) => {
    if (node.value !== true) return node.changed("weir knows people of groups only", "identity.unknown");
    draft.set(["identity", "unknown"], "create", node);
    node.changed("people appear below identity.create.under", "identity.unknown");
  },
  user_allowed_email_domain: (node, { draft }) => {
    draft.set([...AT, "require"], { email: `*@${node.text ?? ""}` }, node);
    node.taken(`${AT.join(".")}.require`);
  },
  admin_jwt_scope: none("a scope of a token makes no admin", "groups of the provider: {admins: {admin: /}}"),
  admin_allowed_routes: none("roles say which operations somebody may use"),
  team_allowed_routes: none("scopes.endpoints of the provider restricts what people may call"),
  team_id_upsert: none("a path of a config or an operator makes a team; no claim does"),
  user_roles_jwt_field: none("roles follow from groups", "groups of the provider"),
  user_allowed_roles: none("roles follow from groups", "groups of the provider"),
  public_key_ttl: none("weir renews keys at half of the time that cache-control allows"),
  enforce_rbac: none("people without a group have no role"),
};

/** `general_settings.enable_jwt_auth`. Issuer, audience and keys are in the environment of LiteLLM. */
export function readJwt({ draft, environment }: Reading, general: SourceNode | undefined): void {
  const node = general?.member("enable_jwt_auth");
  if (node?.value !== true) return void node?.ignored("it is off");
  const variable = (name: string, kind: "url" | "text") => environment.variable(name, kind);
  draft.set([...AT, "issuer"], variable("JWT_ISSUER", "url"), node);
  draft.set([...AT, "audience"], variable("JWT_AUDIENCE", "text"), node);
  draft.set([...AT, "jwks"], variable("JWT_PUBLIC_KEY_URL", "url"), node);
  node.changed(
    "weir accepts tokens of an issuer and for an audience only; members of teams may use models, at /people/NAME",
    AT.join("."),
  );
}

/** `general_settings.litellm_jwtauth`. */
export function readJwtSettings(node: SourceNode, reading: Reading): void {
  applyRules(node, RULES, reading);
}

function claim(option: string): SettingRule {
  return (node, { draft }) => {
    draft.set([...AT, option], pointerOf(node), node);
    node.taken([...AT, option].join("."));
  };
}

function groups(node: SourceNode, { draft }: Reading): void {
  draft.set([...AT, "map", "groups"], pointerOf(node), node);
  draft.set([...AT, "groups"], { "*": { member: "/teams/{1}" } }, node);
  node.changed(
    "a team lets its members use models; their calls are booked at their own paths",
    `${AT.join(".")}.groups`,
  );
}

/** LiteLLM reaches into claims by dots, weir by a pointer of JSON. */
function pointerOf(node: SourceNode): string {
  const path = String(node.value);
  return path.includes(".") ? `/${path.replaceAll("/", "~1").replaceAll(".", "/")}` : path;
}
