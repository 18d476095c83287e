import { extname } from "node:path";
import { readShipped } from "../../process/shipped-files.ts";

/** Which of the built pages a service shows. */
export type PageName = "records" | "firewall" | "updater" | "docs";

export type PageAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
};

export type StaticPagesOptions = {
  readonly page: PageName;
  /** Paths that the page routes; all serve the same file. */
  readonly isPage: (path: string) => boolean;
  /** Where the built pages are, if not where they are shipped. */
  readonly folder?: string | undefined;
};

/**
 * Nothing from other origins, nothing inline except styles (the component library sets some), and no framing by other
 * pages.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** Also sent with the API documentation. */
export const pageHeaders = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/**
 * The returned function gives undefined for paths that are not the pages'. Files are read on their first request and
 * cached.
 */
export function createStaticPages({ page, isPage, folder }: StaticPagesOptions) {
  const files = new Map<string, Promise<Buffer | undefined>>();
  const fileOf = (name: string): Promise<Buffer | undefined> => {
    const pageFile = files.get(name);
    if (pageFile !== undefined) return pageFile;
    const reading = folder === undefined ? readShipped(`console/${name}`) : readShipped(name, folder);
    files.set(name, reading);
    // Only existing files are cached: requests for random names must not fill the memory.
    const forget = () => files.delete(name);
    void reading.then((content) => content === undefined && forget(), forget);
    return reading;
  };

  return async (
    path: string,
    acceptEncoding: string | undefined,
    /** Of the request: people who mistype a path get a page that says so, programs get the answer of the API. */
    accept = "",
  ): Promise<PageAnswer | undefined> => {
    const asset = assetPath.exec(path)?.[1];
    const isKnown = asset !== undefined || isPage(path);
    if (!isKnown && !accept.includes("text/html")) return undefined;
    const name = asset === undefined ? `${page}.html` : `assets/${asset}`;
    const zipped = acceptEncoding?.includes("gzip") ? await fileOf(`${name}.gz`) : undefined;
    const body = zipped ?? (await fileOf(name));
    if (body === undefined) return asset === undefined ? notBuilt : { status: 404, headers: plain, body: "not found" };
    const headers = {
      ...pageHeaders,
      "content-type": types[extname(name)] ?? "application/octet-stream",
      // The names of the other files change with their content.
      "cache-control": asset === undefined ? "no-cache" : "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
      ...(zipped && { "content-encoding": "gzip" }),
    };
    return { status: isKnown ? 200 : 404, headers, body };
  };
}

/** Limited in length: a name that is too long for the file system would be an error instead of a missing file. */
const assetPath = /^\/assets\/([\w.-]{1,100})$/;
const plain = { "content-type": "text/plain; charset=utf-8" };

const notBuilt: PageAnswer = {
  status: 503,
  headers: plain,
  body: "The pages are not built yet. Build them with: npm run build:console\n",
};
