import { expect, it } from "vitest";
import { apiUrl, isUsualUrl } from "./open-provider.ts";

it.each([
  // https://developers.cloudflare.com/api
  ["cloudflare", "https://api.cloudflare.com", "https://api.cloudflare.com/client/v4"],
  ["cloudflare", "https://api.cloudflare.com/client/v4/", "https://api.cloudflare.com/client/v4/"],
  ["cloudflare", "http://192.0.2.1:8080", "http://192.0.2.1:8080/"],
  ["cloudflare", "https://api.cloudflare.com/?account=1f", "https://api.cloudflare.com/client/v4?account=1f"],
  // https://desec.readthedocs.io/en/latest/quickstart.html
  ["desec", "https://desec.io/", "https://desec.io/api/v1"],
  ["desec", "https://desec.example.org/api/v1", "https://desec.example.org/api/v1"],
  ["moor", "https://moor.example.org", "https://moor.example.org/"],
])("%s at %s is asked at %s", (kind, url, asked) => {
  expect(apiUrl(kind, new URL(url)).href).toBe(asked);
});

it.each([
  ["cloudflare", "https://api.cloudflare.com?account=1f", true],
  ["cloudflare", "https://api.cloudflare.com/client/v4?account=1f", true],
  ["cloudflare", "https://api.cloudflare.com/other", false],
  ["cloudflare", "https://api.cloudflare.com.example.org/client/v4", false],
  ["cloudflare", "https://api.cloudflare.com:8443/client/v4", false],
  ["cloudflare", "http://api.cloudflare.com/client/v4", false],
  ["moor", "https://moor.example.org", false],
  ["cloudflare", "nothing", false],
])("%s at %s: everybody may store it: %s", (kind, url, isUsual) => {
  expect(isUsualUrl(kind, url)).toBe(isUsual);
});
