/** Where weir listens, under which names, and for whom. */
import { resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import { bareHost } from "../../core/host-names.ts";
import { parseBlock } from "../../ledger/keys/addresses.ts";
import { hostFault, hostNameFaults, originFault } from "../address.ts";
import { type Fault, faultAt } from "../error.ts";
import { section, type Settling } from "../section.ts";
import { settleTls } from "../tls.ts";
import { CLOSED } from "./kinds.ts";
import { workers } from "./process.ts";

export const host = section(
  "host",
  Type.String({
    default: "127.0.0.1",
    description: "Address to listen on. An address that other machines can reach requires gateway keys.",
    "x-flag": "--host",
    "x-env": "WEIR_HOST",
  }),
  {
    faults: (written) => faultAt(["host"], hostFault(String(written))),
    settle: bareHost,
  },
);

export const port = section(
  "port",
  Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 9347,
    description: "Port to listen on; 0 chooses a free port.",
    "x-flag": "--port",
    "x-env": "WEIR_PORT",
  }),
);

export const names = section(
  "names",
  Type.Array(Type.String(), {
    default: [],
    examples: [["llm.example.com"]],
    description:
      "Host names by which clients reach weir, as behind a proxy that keeps the Host header. On loopback or without gateway keys weir refuses other names with 403, so that no web page can reach it by DNS rebinding; it accepts addresses, `localhost`, `*.localhost`, `host.docker.internal` and `host.containers.internal` always. The admin listener accepts the same names.",
    "x-flag": "--names",
    "x-env": "WEIR_NAMES",
  }),
  { agrees: (list) => hostNameFaults(["names"], list) },
);

export const trustedProxies = section(
  "trustedProxies",
  Type.Array(Type.String(), {
    default: [],
    examples: [["10.0.0.0/8"]],
    description:
      "Addresses or blocks of reverse proxies. For a request from one of them, the client's address is the last one in `x-forwarded-for` that is no such proxy.",
  }),
  { agrees: proxyFaults },
);

function proxyFaults(list: readonly string[]): Fault[] {
  const index = list.findIndex((text) => parseBlock(text) === undefined);
  return index < 0
    ? []
    : faultAt(
        ["trustedProxies", index],
        `trustedProxies[${index}] must be an address or a block such as 10.0.0.0/8`,
      );
}

/** File modes of a unix socket: the owner may connect, the owner and the group, everyone. */
const MODES = [0o600, 0o660, 0o666];
const DEFAULT_MODE = "0600";

/** YAML reads `0600` as the decimal number 600, so each mode is accepted as number or text, octal or decimal. */
const spellingsOf = (mode: number) => {
  const digits = mode.toString(8);
  return [Number(digits), mode, `0${digits}`, `0o${digits}`, digits];
};

/** The numeric file mode for a mode as the config file writes it. */
function readMode(written: unknown): number {
  return MODES.find((mode) => spellingsOf(mode).some((spelling) => spelling === written)) ?? MODES[0]!;
}

export const listen = section(
  "listen",
  Type.Object(
    {
      unix: Type.Optional(
        Type.String({
          description:
            "Path of a unix socket to listen on, instead of host and port. A relative path is relative to the config file. Requires a single process (`workers` 0 or 1).",
          "x-path": true,
          examples: ["weir.sock"],
        }),
      ),
      mode: Type.Unsafe<number>(
        Type.Union(
          MODES.flatMap(spellingsOf).map((spelling) => Type.Literal(spelling)),
          {
            default: DEFAULT_MODE,
            "x-expects": "0600, 0660 or 0666",
            description:
              "File mode of the socket: `0600` only the owner can connect, `0660` the owner and the group, `0666` everyone.",
          },
        ),
      ),
    },
    { ...CLOSED, description: "Listening on a unix socket." },
  ),
  {
    faults: (written) =>
      faultAt(["listen", "unix"], (written as { unix?: string }).unix === "" ? "unix is empty" : undefined),
    settle: ({ unix, mode }, { folder }) => ({
      ...(unix !== undefined && { unix: resolve(folder, unix) }),
      mode: readMode(mode),
    }),
    agrees: ({ unix }, config) => (unix === undefined ? [] : socketFaults(config)),
  },
);

export const tls = section(
  "tls",
  Type.Object(
    {
      issuer: Type.Optional(
        Type.Literal("self", {
          description:
            "`self`: weir makes a certificate of its own for this machine, keeps it in `tls` of the state folder and renews it. The start prints the variable by which clients trust it.",
          "x-expects": "`self`",
          "x-flag": "--tls",
          "x-env": "WEIR_TLS",
        }),
      ),
      cert: Type.Optional(
        Type.String({
          description:
            "PEM file of the server certificate, followed by its intermediate certificates. A relative path is relative to the config file. weir reads both files again on reload.",
          "x-path": true,
          examples: ["cert.pem"],
        }),
      ),
      key: Type.Optional(
        Type.String({
          description: "PEM file of the certificate's private key, not encrypted.",
          "x-path": true,
          examples: ["key.pem"],
        }),
      ),
    },
    { ...CLOSED, description: "Listening with TLS." },
  ),
  { settle: (files, { folder, locate }: Settling) => settleTls(files, folder, locate) },
);

export const cors = section(
  "cors",
  Type.Object(
    {
      origins: Type.Array(Type.String(), {
        default: [],
        description:
          "Origins of browser apps that may call the gateway, such as `https://app.example.com`. `*` allows every origin and requires gateway keys. Empty: no origin.",
      }),
    },
    { ...CLOSED, description: "Cross-origin calls from browser apps." },
  ),
  {
    faults: (written) =>
      ((written as { origins?: string[] }).origins ?? []).flatMap((origin, index) => {
        const clause = originFault(origin);
        return faultAt(["cors", "origins", index], clause && `origins[${index}] ${clause}`);
      }),
    settle: ({ origins }) => ({ origins: origins.map((origin) => origin.toLowerCase()) }),
  },
);

/** Several processes cannot share a unix socket. */
function socketFaults(config: object): Fault[] {
  const count = workers.of(config);
  if (count > 1)
    return faultAt(
      ["workers"],
      `a unix socket requires a single process, but workers is ${count}; set workers to 1`,
    );
  const { cert, issuer } = tls.of(config);
  if (cert === undefined && issuer === undefined) return [];
  const path = ["tls", issuer === undefined ? "cert" : "issuer"];
  return faultAt(path, "TLS is not supported on a unix socket; remove tls");
}
