import { beforeAll, describe, expect, it } from "vitest";
import { rrsetsService } from "../../../../test/rig/records/rrsets-service.ts";

const { call, get, newToken, newZone, url } = rrsetsService();

describe("pagination", () => {
  let zone: { id: number; name: string };
  beforeAll(async () => {
    zone = await newZone({
      rrsets: Array.from({ length: 61 }, (_, i) => ({
        name: `h${String(i).padStart(3, "0")}`,
        type: "A",
        records: [{ value: "192.0.2.1" }],
      })),
    });
  });
  const page = async (query: string) => (await get(`/zones/${zone.id}/rrsets?type=A&${query}`)).meta.pagination;

  it("exactly six keys, all always present", async () => {
    expect(await page("page=2")).toEqual({
      page: 2,
      per_page: 25,
      previous_page: 1,
      next_page: 3,
      last_page: 3,
      total_entries: 61,
    });
    expect(Object.keys((await get("/zones")).meta)).toEqual(["pagination"]);
  });

  it("the list of zones is also at /zones/, and nothing else is", async () => {
    expect(await get("/zones/?name=none.example")).toEqual(await get("/zones?name=none.example"));
    expect((await get(`/zones/?name=${zone.name}`)).zones).toMatchObject([{ id: zone.id }]);
    expect((await get(`/zones?name=${zone.name}.`)).zones).toMatchObject([{ id: zone.id }]);
    expect((await get(`/zones/${zone.name}.`)).zone).toMatchObject({ id: zone.id });
    for (const method of ["PUT", "DELETE"]) expect((await call(method, "/zones/", {})).status).toBe(404);
  });

  it("the previous page of a page after the last one is the last one", async () => {
    expect(await page("page=9")).toMatchObject({ page: 9, previous_page: 3, next_page: null, last_page: 3 });
  });

  it("an empty list has one page", async () => {
    const { zones, meta } = await get("/zones?name=none.example");
    expect(zones).toEqual([]);
    const empty = { page: 1, per_page: 25, previous_page: null, next_page: null, last_page: 1, total_entries: 0 };
    expect(meta.pagination).toEqual(empty);
  });

  it("per_page defaults to 25, with a maximum of 50, or 100 for record sets", async () => {
    expect((await page("per_page=100")).per_page).toBe(100);
    expect((await page("per_page=1000")).per_page).toBe(100);
    expect((await get("/zones?per_page=100")).meta.pagination.per_page).toBe(50);
    expect((await get("/zones/actions?per_page=100")).meta.pagination.per_page).toBe(50);
  });

  /**
   * solidblocks (Kotlin) starts with page 0 and continues with next_page; its tests against the original count no entry
   * twice.
   */
  it("page 0 is the first page", async () => {
    expect(await page("page=0")).toEqual(await page("page=1"));
    for (const list of ["/zones", "/zones/actions", `/zones/${zone.id}/actions`, `/zones/${zone.id}/rrsets`]) {
      expect(await get(`${list}?page=0&per_page=25&`)).toEqual(await get(list));
    }
  });

  it.each(["page=x", "page=-1", "per_page=0", "per_page=-1"])("%s is refused", async (query) => {
    const { status, error } = await call("GET", `/zones?${query}`);
    expect([status, error.code, error.details.fields[0].name]).toEqual([422, "invalid_input", query.split("=")[0]]);
  });

  it("next_page leads through all entries once", async () => {
    const seen: string[] = [];
    for (let next: number | null = 1; next !== null; ) {
      const { rrsets, meta } = await get(`/zones/${zone.id}/rrsets?page=${next}&per_page=20`);
      seen.push(...rrsets.map((set: { id: string }) => set.id));
      next = meta.pagination.next_page;
    }
    expect(seen).toHaveLength(63);
    expect(new Set(seen).size).toBe(63);
  });

  it("Link: prev, next and last, with only page and per_page; on a one-page list only last", async () => {
    const path = `/zones/${zone.id}/rrsets`;
    const at = (n: number, rel: string) => `<${url()}/v1${path}?page=${n}&per_page=25>; rel="${rel}"`;
    const link = async (query: string) => (await call("GET", `${path}?${query}`)).headers.link;
    expect(await link("type=A&page=2&sort=name")).toBe([at(1, "prev"), at(3, "next"), at(3, "last")].join(", "));
    expect(await link("name=h001")).toBe(at(1, "last"));
    expect((await call("GET", "/actions?id=1")).headers.link).toBeUndefined();
    expect((await call("GET", `/${path}?name=h001`)).headers.link).toBe(at(1, "last"));
  });
});

describe("sorting and label selector", () => {
  let names: readonly string[];
  let secret: string;
  beforeAll(async () => {
    secret = await newToken("labels");
    const labels = [{ env: "prod", team: "ops" }, { env: "dev" }, { env: "", "example.org/tier": "1" }, {}];
    names = ["c.example", "a.example", "d.example", "b.example"].map((name) => `sel-${name}`);
    for (const [i, name] of names.entries()) {
      await call("POST", "/zones", { name, mode: "primary", labels: labels[i] }, { token: secret });
    }
  });
  const found = async (query: string) => {
    const { json } = await call("GET", `/zones?${query}`, undefined, { token: secret });
    return json.zones.map((zone: { name: string }) => zone.name.slice(4, 5)).join("");
  };

  it.each([
    ["sort=name", "abcd"],
    ["sort=name:asc", "abcd"],
    ["sort=name:desc", "dcba"],
    ["sort=id:desc", "bdac"],
    ["sort=name&sort=created:desc", "abcd"],
    ["", "cadb"],
  ])("sort: %s", async (query, order) => {
    expect(await found(query)).toBe(order);
  });

  it.each(["sort=ttl", "sort=name:up", "sort=name:asc:desc"])("%s is refused", async (query) => {
    const { status, error } = await call("GET", `/zones?${query}`);
    expect([status, error.code, error.details.fields[0].name]).toEqual([422, "invalid_input", "sort"]);
  });

  it.each([
    ["env", "cad"],
    ["!env", "b"],
    ["env=prod", "c"],
    ["env==prod", "c"],
    ["env=", "d"],
    ["env!=prod", "ad"],
    ["env in (prod,dev)", "ca"],
    ["env in (prod, dev),team", "c"],
    ["env notin (prod,dev)", "d"],
    ["team,env!=dev", "c"],
    ["example.org/tier=1", "d"],
    ["env,!team", "ad"],
  ])("label_selector: %s", async (selector, zones) => {
    expect(await found(`label_selector=${encodeURIComponent(selector)}`)).toBe(zones);
  });

  it.each(["=x", "env in prod", "env in (a", "env=a=b", "env,,team", "a b", "env in (%)"])(
    "label_selector: %s is refused",
    async (selector) => {
      const { status, error } = await call("GET", `/zones?label_selector=${encodeURIComponent(selector)}`);
      expect([status, error.code]).toEqual([422, "invalid_input"]);
    },
  );

  it.each([
    ["a key that ends with a dash", { "env-": "x" }],
    ["a key that is too long", { ["k".repeat(64)]: "x" }],
    ["a prefix that is not a DNS name", { "-x/env": "x" }],
    ["a prefix that is too long", { [`${"a.".repeat(127)}a/env`]: "x" }],
    ["the reserved prefix", { "hetzner.cloud/env": "x" }],
    ["a value that is too long", { env: "v".repeat(64) }],
    ["a value with a blank", { env: "a b" }],
    ["a value that is not a string", { env: 1 }],
    ["a list", ["env"]],
  ])("labels: %s is refused", async (_, labels) => {
    const zone = await newZone();
    const { status, error } = await call("PUT", `/zones/${zone.id}`, { labels });
    expect([status, error.code, error.details.fields[0].name]).toEqual([
      422,
      "invalid_input",
      Array.isArray(labels) ? "labels" : `labels.${Object.keys(labels)[0]?.slice(0, 80)}`,
    ]);
  });

  it("PUT labels replaces the whole map, of zones and of sets", async () => {
    const zone = await newZone({ labels: { a: "1", b: "2" } });
    expect((await call("PUT", `/zones/${zone.id}`, { labels: { c: "3" } })).json.zone.labels).toEqual({ c: "3" });
    const labels = { "a.b/c": "x.y_z-1" };
    const path = `/zones/${zone.id}/rrsets/@/NS`;
    expect((await call("PUT", path, { labels })).json.rrset.labels).toEqual(labels);
    expect((await get(`/zones/${zone.id}/rrsets?label_selector=a.b/c`)).rrsets).toHaveLength(1);
    expect((await call("PUT", path, { labels: {} })).json.rrset.labels).toEqual({});
  });
});
