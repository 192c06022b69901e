/** Files in a bucket: the same promises as in a folder. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { BucketShop } from "../store/bucket.ts";
import { DamagedBytes, seal, unseal } from "../store/sealed.ts";
import { type FakeBucket, startBucket } from "./support/fake-bucket.ts";

let bucket: FakeBucket;
let shop: BucketShop;

beforeAll(() => {
  bucket = startBucket("kept");
  shop = new BucketShop("kept", "weir/files", {
    ...{ endpoint: bucket.url, accessKeyId: "id", secretAccessKey: "secret", region: "us-east-1" },
  });
});

afterAll(() => bucket.stop());

const KEY = randomBytes(32);

async function* cut(bytes: Uint8Array, end?: () => void) {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
  end?.();
}

const open = async (name: string, length: number, range?: { from: number; to: number }) =>
  Buffer.concat(
    await Array.fromAsync(unseal(KEY, name, length, (from, to) => shop.get(name, from, to), range)),
  );

test.each([0, 100, 100_000, 25_000_000])("%i bytes come back, whole and in part", async (length) => {
  const plain = randomBytes(length);
  await shop.put("a", seal(KEY, "a", cut(plain)));
  expect([...bucket.objects.keys()]).toEqual(["weir/files/a"]);
  expect(bucket.objects.get("weir/files/a")!.includes(plain.subarray(0, 50))).toBe(length === 0);
  expect((await open("a", length)).equals(plain)).toBe(true);
  const range = { from: Math.floor(length / 3), to: Math.floor(length / 2) };
  expect((await open("a", length, range)).equals(plain.subarray(range.from, range.to))).toBe(true);
  await shop.del("a");
  await shop.del("a");
  expect(bucket.objects.size).toBe(0);
});

test("a buffer that is used again is not sent twice", async () => {
  const whole = randomBytes(20_000_000);
  const reused = async function* () {
    const buffer = Buffer.alloc(65_536);
    for (let at = 0; at < whole.length; at += buffer.length) {
      const length = whole.copy(buffer, 0, at, at + buffer.length);
      yield buffer.subarray(0, length);
    }
  };
  await shop.put("reused", reused());
  expect(bucket.objects.get("weir/files/reused")!.equals(whole)).toBe(true);
  await shop.del("reused");
});

test.each([100, 25_000_000])("%i bytes that break off leave no object", async (length) => {
  const broken = cut(randomBytes(length), () => {
    throw new Error("broke off");
  });
  const fault = await shop.put("b", broken).then(
    () => undefined,
    (thrown: Error) => thrown.message,
  );
  expect(fault).toBe("broke off");
  for (let tries = 0; tries < 100 && bucket.open.size > 0; tries++) await Bun.sleep(20);
  expect([bucket.objects.size, bucket.open.size]).toEqual([0, 0]);
});

test("damage is found, and what is missing is an error", async () => {
  const plain = randomBytes(200_000);
  await shop.put("c", seal(KEY, "c", cut(plain)));
  const whole = bucket.objects.get("weir/files/c")!;
  bucket.replace("weir/files/c", whole.subarray(0, -70_000));
  const faultOf = (asked: Promise<unknown>) =>
    asked.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  expect(await faultOf(open("c", plain.length))).toBeInstanceOf(DamagedBytes);
  await shop.del("c");
  expect(await faultOf(open("c", plain.length))).toMatchObject({ code: "NoSuchKey" });
});

test("a list has all pages", async () => {
  const names = Array.from({ length: 7 }, (_, index) => `n${index}`);
  for (const name of names) await shop.put(name, cut(Buffer.from("x")));
  expect((await Array.fromAsync(shop.list())).map(({ name }) => name)).toEqual(names);
  for (const name of names) await shop.del(name);
});
