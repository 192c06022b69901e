/** How nodes share a rate limit: never more than the limit together, and the larger part where the demand is. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { type Part, partOf } from "../../src/keeper/store/postgres/rate-parts.ts";

setDefaultTimeout(120_000);

interface Node extends Part {
  asked: number;
  used: number;
  silent: number;
}

const sum = (nodes: readonly Node[]) => nodes.reduce((total, { part }) => total + part, 0);

/** One node asks, as `takeParts` does. */
function ask(nodes: Node[], index: number, limit: number): void {
  const node = nodes[index]!;
  Object.assign(
    node,
    partOf(
      { limit, asked: node.asked, used: node.used },
      nodes.filter((_, at) => at !== index),
      nodes.length,
    ),
  );
}

const fresh = (count: number): Node[] =>
  Array.from({ length: count }, () => ({ part: 0, least: 0, asked: 0, used: 0, silent: 0 }));

describe("the parts of a rate limit", () => {
  test("are together at most the limit, whatever is asked, in any order, with nodes that join and places in use", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000 }),
        fc.array(
          fc.record({ node: fc.nat(5), asked: fc.nat(1_000), used: fc.nat(100), joins: fc.boolean() }),
          { maxLength: 60 },
        ),
        (limit, steps) => {
          const nodes = fresh(2);
          for (const { node, asked, used, joins } of steps) {
            if (joins && nodes.length < 6) nodes.push(...fresh(1));
            const index = node % nodes.length;
            const one = nodes[index]!;
            one.asked = asked;
            // A node uses no more places than its part has.
            one.used = Math.min(used, Math.floor(one.part * limit + 1e-6));
            ask(nodes, index, limit);
            expect(sum(nodes)).toBeLessThanOrEqual(1 + 1e-9);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test("follow the demand within two rounds, and leave each node its half of an equal part", () => {
    const nodes = fresh(2);
    const limit = 600;
    nodes[0]!.asked = 100;
    for (let round = 0; round < 2; round++) for (const index of [0, 1]) ask(nodes, index, limit);
    expect(nodes.map(({ part }) => part)).toEqual([0.75, 0.25]);
    nodes[0]!.asked = 0;
    nodes[1]!.asked = 100;
    for (let round = 0; round < 2; round++) for (const index of [0, 1]) ask(nodes, index, limit);
    expect(nodes.map(({ part }) => part)).toEqual([0.25, 0.75]);
  });

  test("of a limit of one are whole: the node with the demand has it", () => {
    const nodes = fresh(2);
    nodes[1]!.asked = 5;
    for (let round = 0; round < 2; round++) for (const index of [0, 1]) ask(nodes, index, 1);
    expect(nodes.map(({ part }) => part)).toEqual([0, 1]);
  });

  test("places in use are not given up", () => {
    const nodes = fresh(2);
    nodes[0]!.asked = 9;
    for (const index of [0, 1]) ask(nodes, index, 10);
    nodes[0]!.used = 8;
    nodes[0]!.asked = 0;
    nodes[1]!.asked = 100;
    for (let round = 0; round < 3; round++) for (const index of [0, 1]) ask(nodes, index, 10);
    expect(nodes[0]!.part).toBe(0.8);
    expect(nodes[1]!.part).toBeCloseTo(0.2);
  });

  test("a silent node keeps what it uses in silence, and the others take the rest", () => {
    const nodes = fresh(2);
    nodes[0]!.asked = 9;
    for (const index of [0, 1]) ask(nodes, index, 100);
    nodes[0]!.silent = 60;
    nodes[1]!.asked = 90;
    ask(nodes, 1, 100);
    expect(nodes[0]!.least + nodes[1]!.part).toBeLessThanOrEqual(1);
    expect(nodes[1]!.part).toBeGreaterThan(0.7);
  });
});
