/** The models that clients can ask for, with what is known about each. */
import type { Principal } from "../../core/principal.ts";
import type { FactBook, ModelFacts } from "../../core/model-facts.ts";
import type { ListedModel } from "../../core/model-listing.ts";
import { inSlices, type Sliced } from "../../core/slices.ts";
import { allowedModels, assertModel } from "../access.ts";
import type { ModelEntry, Registry, ServedModel } from "../routing/registry.ts";
import { isFitted, traitsFor } from "../routing/spoken-formats.ts";
import { CarriedOptions } from "./carried.ts";
import { knownTasks, tasksOf } from "../routing/tasks.ts";
import { commonFacts, mergeFacts, withoutTasks } from "./join-facts.ts";
import { factsOfTraits, withoutRefused } from "./trait-facts.ts";

/** Clients choose the names, so the number of described models is limited. */
const MAX_DESCRIBED = 10_000;

export class ModelCatalog {
  readonly #registry: Registry;
  #load: () => Promise<FactBook>;
  readonly #carried: CarriedOptions;
  #book?: Promise<FactBook>;
  /** All models, in the order of the list. */
  #all?: Promise<readonly ListedModel[]>;
  /** By name. */
  readonly #described = new Map<string, ListedModel>();
  /** The state of the names and of the hosts' lists that `#described` is from. */
  #revision = 0;

  /** @param load reads what is known without asking hosts; called once, for the first list */
  constructor(registry: Registry, load: () => Promise<FactBook>) {
    this.#registry = registry;
    this.#load = load;
    this.#carried = new CarriedOptions(registry.formats);
  }

  /** Replaces what is known without asking hosts. */
  renew(load: () => Promise<FactBook>): void {
    this.#load = load;
    this.#book = undefined;
    this.#described.clear();
    this.#all = undefined;
  }

  /**
   * The models that a caller may use; the same objects until a host lists other models. Waits for the lists of hosts, at most
   * one second.
   * @param principal who asks; absent while calls need no key
   */
  async list(principal?: Principal): Promise<readonly ListedModel[]> {
    await this.#registry.settled();
    const book = await this.#facts();
    if (!principal?.options.narrowsPlans) return (this.#all ??= this.#listOf(undefined, book));
    return this.#listOf(principal, book);
  }

  /** Waits as {@link list}. @throws GatewayError `permission` (`model_not_allowed`) */
  async assertAllowed(id: string, principal: Principal | undefined): Promise<void> {
    if (!principal?.options.narrowsPlans) return;
    await this.#registry.settled();
    assertModel(principal, id, this.#registry);
  }

  #listOf(principal: Principal | undefined, book: FactBook): Promise<ListedModel[]> {
    return inSlices(this.#describeAll(allowedModels(this.#registry, principal), book));
  }

  /**
   * A model that weir would serve, listed or not. Waits as {@link list}.
   * @returns undefined if no provider that is on serves it
   */
  async find(id: string): Promise<ListedModel | undefined> {
    await this.#registry.settled();
    return this.known(id);
  }

  /** As {@link find}, without asking hosts. */
  async known(id: string): Promise<ListedModel | undefined> {
    const [served] = this.#registry.servedBy(id);
    if (!served) return undefined;
    return this.#describe({ id, provider: served.provider.name }, await this.#facts());
  }

  async #facts(): Promise<FactBook> {
    const book = await (this.#book ??= this.#load());
    const { revision } = this.#registry;
    if (revision !== this.#revision || this.#described.size > MAX_DESCRIBED) {
      this.#described.clear();
      this.#all = undefined;
    }
    this.#revision = revision;
    return book;
  }

  *#describeAll(entries: readonly ModelEntry[], book: FactBook): Sliced<ListedModel[]> {
    const described: ListedModel[] = [];
    for (const entry of entries) {
      described.push(this.#describe(entry, book));
      yield;
    }
    return described;
  }

  #describe({ id, provider }: ModelEntry, book: FactBook): ListedModel {
    const described = this.#described.get(id);
    if (described) return described.provider === provider ? described : { ...described, provider };
    const served = this.#registry.servedBy(id);
    const known = served.map((one) => this.#factsOf(one, book));
    const facts = withoutTasks(commonFacts(known));
    const model: ListedModel = {
      ...{ id, provider, does: this.#tasksOf(served, known) },
      ...(served.length === 1 && { model: served[0]!.model }),
      ...this.#carriedTo(served),
      ...(facts && { facts }),
    };
    this.#described.set(id, model);
    return model;
  }

  /** What one of the models does: a route sends no request to the others. */
  #tasksOf(served: readonly ServedModel[], facts: readonly (ModelFacts | undefined)[]): readonly string[] {
    const { kinds } = this.#registry;
    const each = served.map(({ provider, model }, at) =>
      knownTasks(tasksOf(provider, model, kinds), facts[at], kinds),
    );
    return [...new Set(each.flat())];
  }

  /** The options of clients that reach all of the models. */
  #carriedTo(served: readonly ServedModel[]): Pick<ListedModel, "carried"> {
    const carried: Record<string, readonly string[]> = {};
    for (const { id, client } of this.#registry.formats.values()) {
      const samples = client?.routes.modelMembers?.samples;
      if (!client || !samples) continue;
      const [first, ...others] = served.map((one) => this.#carried.of(one, { id, client }, samples));
      if (first && others.every((options) => options !== undefined))
        carried[id] = first.filter((name) => others.every((options) => options!.includes(name)));
    }
    return Object.keys(carried).length > 0 ? { carried } : {};
  }

  /** The operator's facts precede the host's, and those precede generally known facts. */
  #factsOf({ provider, model }: ServedModel, book: FactBook): ModelFacts | undefined {
    const traits = traitsFor(provider, model) ?? provider.traits ?? {};
    const facts = mergeFacts([
      factsOfTraits(traits, isFitted(provider, model)),
      book.ofConfig(provider.name, model),
      this.#registry.live.factsOf(provider.name, model),
      book.ofSnapshot(provider.name, model),
    ]);
    return withoutRefused(facts, traits);
  }
}
