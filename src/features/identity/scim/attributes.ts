/** The attributes of users and groups (RFC 7643 4 and 8.7.1), as `/Schemas` publishes them and requests are read by them. */

export const CORE_USER = "urn:ietf:params:scim:schemas:core:2.0:User";
export const CORE_GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

export type Kind = "User" | "Group";

export interface Attribute {
  readonly name: string;
  readonly type: "string" | "boolean" | "complex" | "reference" | "binary";
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: "readWrite" | "readOnly" | "immutable";
  readonly returned: "default";
  readonly uniqueness: "none" | "server";
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
}

type More = Partial<Omit<Attribute, "name">>;

function attribute(name: string, description: string, more: More = {}): Attribute {
  return {
    ...{ name, type: "string", multiValued: false, description, required: false, caseExact: false },
    ...{ mutability: "readWrite", returned: "default", uniqueness: "none" },
    ...more,
  };
}

const flag = (name: string, description: string) => attribute(name, description, { type: "boolean" });

const complex = (name: string, description: string, subAttributes: readonly Attribute[], more: More = {}) =>
  attribute(name, description, { type: "complex", subAttributes, ...more });

const texts = (described: Readonly<Record<string, string>>) =>
  Object.entries(described).map(([name, description]) => attribute(name, description));

/** Several values with a type each, of which one may be the primary one. */
function values(name: string, description: string, types: readonly string[] = [], value: More = {}) {
  const parts = [
    attribute("value", "The value.", value),
    attribute("display", "The value, for people."),
    attribute("type", "What it is for.", types.length > 0 ? { canonicalValues: types } : {}),
    flag("primary", "Whether it is the preferred one."),
  ];
  return complex(name, description, parts, { multiValued: true });
}

const reference = (referenceTypes: readonly string[], more: More = {}): More => ({
  ...{ type: "reference", referenceTypes, caseExact: true },
  ...more,
});

const NAME = texts({
  formatted: "The whole name.",
  familyName: "The family name.",
  givenName: "The given name.",
  middleName: "The middle names.",
  honorificPrefix: "In front of the name.",
  honorificSuffix: "Behind the name.",
});

const ADDRESS = [
  ...texts({
    formatted: "The whole address.",
    streetAddress: "Street and number.",
    locality: "City.",
    region: "State or region.",
    postalCode: "Postal code.",
    country: "Country.",
  }),
  attribute("type", "What it is for.", { canonicalValues: ["work", "home", "other"] }),
  flag("primary", "Whether it is the preferred one."),
];

const readOnly = { mutability: "readOnly" } as const;

const USER: readonly Attribute[] = [
  attribute("userName", "Name by which the user signs in.", { required: true, uniqueness: "server" }),
  complex("name", "The parts of the name.", NAME),
  ...texts({ displayName: "The name, for people.", nickName: "The name among friends." }),
  attribute("profileUrl", "Page of the user.", reference(["external"])),
  ...texts({
    title: "Title, such as Vice President.",
    userType: "Relation to the organization.",
    preferredLanguage: "Language, such as en-US.",
    locale: "Place whose formats are used.",
    timezone: "Time zone, such as Europe/Berlin.",
  }),
  flag("active", "Whether the person may use the gateway. Default true."),
  values("emails", "Addresses of e-mail.", ["work", "home", "other"]),
  values("phoneNumbers", "Numbers of telephones.", ["work", "home", "mobile", "fax", "pager", "other"]),
  values("ims", "Addresses of instant messages."),
  values("photos", "Pictures.", ["photo", "thumbnail"], reference(["external"])),
  complex("addresses", "Postal addresses.", ADDRESS, { multiValued: true }),
  complex(
    "groups",
    "Groups of which the user is a direct member.",
    [
      attribute("value", "Id of the group.", readOnly),
      attribute("$ref", "Address of the group.", reference(["Group"], readOnly)),
      attribute("display", "Name of the group.", readOnly),
      attribute("type", "How.", { canonicalValues: ["direct"], ...readOnly }),
    ],
    { multiValued: true, ...readOnly },
  ),
  values("entitlements", "What the user is entitled to."),
  values("roles", "Roles. weir grants by groups, and keeps these as they are."),
  values("x509Certificates", "Certificates.", [], { type: "binary", caseExact: true }),
];

const GROUP: readonly Attribute[] = [
  attribute("displayName", "Name of the group, by which the options grant roles.", {
    required: true,
    uniqueness: "server",
  }),
  complex(
    "members",
    "Users and groups.",
    [
      attribute("value", "Id of the member.", { mutability: "immutable", caseExact: true }),
      attribute("$ref", "Address of the member.", reference(["User", "Group"], { mutability: "immutable" })),
      attribute("type", "What it is.", { mutability: "immutable", canonicalValues: ["User", "Group"] }),
    ],
    { multiValued: true },
  ),
];

const EXTENSION: readonly Attribute[] = [
  ...texts({
    employeeNumber: "Number in the organization.",
    costCenter: "Cost center.",
    organization: "Organization.",
    division: "Division.",
    department: "Department.",
  }),
  complex("manager", "Manager of the user.", [
    attribute("value", "Id of the manager."),
    attribute("$ref", "Address of the manager.", reference(["User"])),
    attribute("displayName", "Name of the manager.", readOnly),
  ]),
];

/** Attributes that every resource has besides, and that `/Schemas` does not list. */
const EXTERNAL_ID = attribute("externalId", "", { caseExact: true });

export interface PublishedSchema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

export const SCHEMAS: readonly PublishedSchema[] = [
  { id: CORE_USER, name: "User", description: "A person.", attributes: USER },
  { id: CORE_GROUP, name: "Group", description: "A group of people.", attributes: GROUP },
  {
    id: ENTERPRISE,
    name: "EnterpriseUser",
    description: "A person in an organization.",
    attributes: EXTENSION,
  },
];

/** By their names in small letters. */
export type Attributes = ReadonlyMap<string, Attribute>;

const byName = (list: readonly Attribute[]): Attributes =>
  new Map(list.map((one) => [one.name.toLowerCase(), one]));

const KNOWN: Readonly<Record<Kind, Attributes>> = {
  User: byName([...USER, EXTERNAL_ID]),
  Group: byName([...GROUP, EXTERNAL_ID]),
};
const ENTERPRISE_ATTRIBUTES = byName(EXTENSION);

/** The attributes of a kind of resource. */
export const attributesOf = (kind: Kind): Attributes => KNOWN[kind];

export const coreOf = (kind: Kind) => (kind === "User" ? CORE_USER : CORE_GROUP);

/** The attributes of an extension; undefined for one that weir does not know. */
export function extensionOf(urn: string): Attributes | undefined {
  return isSame(urn, ENTERPRISE) ? ENTERPRISE_ATTRIBUTES : undefined;
}

/** A part of a complex attribute. */
export function partOf(attribute: Attribute, name: string): Attribute | undefined {
  return attribute.subAttributes?.find((one) => isSame(one.name, name));
}

/** Names and URNs are compared without regard to case (RFC 7643 2.1). */
export function isSame(one: string, other: string): boolean {
  return one.length === other.length && one.toLowerCase() === other.toLowerCase();
}
