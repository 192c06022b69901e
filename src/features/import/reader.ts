/** Helpers that the readers of all sources share. */
import type { Provider } from "../../core/provider.ts";
import { Secret } from "../../core/secret.ts";
import { type SourceConnection, Draft } from "./draft.ts";
import { keyVariable } from "./hosts.ts";
import { Environment, type References } from "./environment.ts";
import { isEmpty, Leaves, type SourceDocument, type SourceNode } from "./source.ts";

export class Reading {
  readonly draft = new Draft();
  readonly leaves: Leaves;
  readonly environment: Environment;
  readonly vendors: ReadonlyMap<string, Provider>;
  /** Sentences about the whole result, without the full stop. */
  readonly remarks: string[] = [];
  /** The leaves of further files, such as a list of keys. */
  readonly more: Leaves[] = [];

  constructor(document: SourceDocument, references: References, vendors: ReadonlyMap<string, Provider>) {
    this.leaves = new Leaves(document);
    this.environment = new Environment(references);
    this.vendors = vendors;
  }

  get root(): SourceNode {
    return this.leaves.root;
  }

  /** A credential in the notation of `weir.yaml`. @param provider whose key it is, for the name of a variable */
  apiKey(node: SourceNode | undefined, provider: string): string | undefined {
    if (node === undefined) return undefined;
    if (node.value === "") {
      node.ignored("it is empty");
      return undefined;
    }
    const vendor = this.vendors.get(provider);
    const to = `providers.${provider}.apiKey`;
    if (NO_KEY.test(node.text ?? "") && (vendor === undefined || vendor.liveModels)) {
      node.changed("it stands for no key, so weir sends none", to);
      return undefined;
    }
    node.taken(to);
    return this.environment.secret(node, keyVariable(vendor ?? { name: provider }));
  }

  /** The key of a client: a literal becomes its digest, so that the file contains no secret. */
  gatewayKey(node: SourceNode): { key: string } | { sha256: string } {
    const text = String(node.value);
    if (this.environment.isReference(text)) return { key: this.environment.text(text, "secret") };
    return { sha256: new Secret(text).digest() };
  }

  /** Puts the connection into the draft. */
  connect(connection: SourceConnection, from: SourceNode): SourceConnection {
    const settings = Object.fromEntries(
      Object.entries(connection.settings).filter(([, value]) => value !== undefined && !isEmpty(value)),
    );
    return this.draft.connect({ ...connection, settings }, from);
  }
}

/** Placeholders in configs for the key of hosts that need none. */
const NO_KEY =
  /^(none|null|empty|dummy|fake.*|no-?key.*|not-?needed|not-?required|unused|anything|local|ollama|vllm|lm-?studio|x+|sk-(1234|x+|dummy|fake|no.*)|-)$/i;

/** A file that is no config of the source. */
export class SourceError extends Error {
  /** @param sentence without the full stop @param at position: `config.yaml:7` */
  constructor(at: string, sentence: string) {
    super(`${at}: ${sentence}.`);
  }
}
