/** The places of bytes: that of the config, and those of before, in which files still lie. */
import { BUCKET, IN_STATE } from "../section.ts";
import type { FileShop } from "./shop.ts";

export class Places {
  readonly #folder: () => Promise<string>;
  readonly #shops = new Map<string, Promise<FileShop>>();

  /** @param folder of files in the state folder */
  constructor(folder: () => Promise<string>) {
    this.#folder = folder;
  }

  /** @param keptIn as the section says it: `state`, a folder, a bucket */
  async shop(keptIn: string): Promise<FileShop> {
    const place = keptIn === IN_STATE ? await this.#folder() : keptIn;
    let shop = this.#shops.get(place);
    if (!shop) this.#shops.set(place, (shop = openShop(place)));
    return shop;
  }
}

/** @param place a folder, or a bucket: `s3://bucket/prefix` */
async function openShop(place: string): Promise<FileShop> {
  const bucket = BUCKET.exec(place);
  if (!bucket) return new (await import("./folder.ts")).FolderShop(place);
  const [, name, prefix = ""] = bucket;
  return new (await import("./bucket.ts")).BucketShop(name!, prefix);
}
