/** What the gateway says of its SCIM (RFC 7643 5 to 7). */
import { CORE_GROUP, CORE_USER, ENTERPRISE, SCHEMAS } from "./attributes.ts";
import { ScimFault } from "./fault.ts";

const CORE = "urn:ietf:params:scim:schemas:core:2.0";

export function serviceProviderConfig(base: string): object {
  const no = { supported: false };
  return {
    schemas: [`${CORE}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: 200 },
    ...{ changePassword: no, sort: no, etag: no },
    authenticationSchemes: [
      {
        ...{ type: "oauthbearertoken", name: "Bearer token", primary: true },
        description: "The token of the option identity.scim.",
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` },
  };
}

function resourceTypes(base: string) {
  const type = (id: string, endpoint: string, description: string, schema: string, extensions: object[]) => ({
    ...{ schemas: [`${CORE}:ResourceType`], id, name: id, endpoint, description, schema },
    ...(extensions.length > 0 && { schemaExtensions: extensions }),
    meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${id}` },
  });
  return [
    type("User", "/Users", "People.", CORE_USER, [{ schema: ENTERPRISE, required: false }]),
    type("Group", "/Groups", "Groups of people.", CORE_GROUP, []),
  ];
}

function schemas(base: string) {
  return SCHEMAS.map((schema) => ({
    ...{ schemas: [`${CORE}:Schema`], ...schema },
    meta: { resourceType: "Schema", location: `${base}/Schemas/${schema.id}` },
  }));
}

/** @param id of one; undefined: all @throws ScimFault 404 */
export function discovered(what: "ResourceTypes" | "Schemas", id: string | undefined, base: string): object {
  const all = what === "Schemas" ? schemas(base) : resourceTypes(base);
  if (id === undefined) return listOf(all, all.length, 1);
  const found = all.find((one) => one.id.toLowerCase() === id.toLowerCase());
  if (found) return found;
  throw new ScimFault(404, undefined, "There is nothing of this name.");
}

export function listOf(resources: readonly object[], total: number, start: number): object {
  return {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
    ...{ totalResults: total, startIndex: start, itemsPerPage: resources.length, Resources: resources },
  };
}
