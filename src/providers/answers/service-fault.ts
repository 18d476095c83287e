/** `because` stays the same from one try to the next, so that a continuing failure is recognised. */
export type ServiceFault = {
  readonly kind:
    | "missing"
    | "ambiguous"
    | "refused"
    | "unauthorised"
    /** This API has no such call. */
    | "unsupported"
    /** May succeed later. */
    | "later";
  /** What is missing is the zone, not the set. */
  readonly of?: "zone";
  readonly because: string;
  readonly todo: string;
  /** The service gave no answer. */
  readonly unreached?: boolean;
  /** The whole service fails, not only this record. */
  readonly ofService?: boolean;
  /** Milliseconds that the service asked us to wait. */
  readonly retryAfter?: number;
  /** The service limits the rate of requests (429), but did not say how long to wait. */
  readonly throttled?: boolean;
  /** The wait applies to this record only. */
  readonly onlyName?: boolean;
  /** The service's own error code, if any. */
  readonly code?: string;
  /** The address was written; a later step failed. */
  readonly afterWrite?: boolean;
};

export type Lookup<T> = { readonly kind: "found"; readonly value: T } | ServiceFault;

/** The service has no such zone, or several of that name: which sets the right one holds is unknown. */
export const isOfZone = ({ kind }: ServiceFault): boolean => kind === "missing" || kind === "ambiguous";

/** The whole service fails, not only one set. */
export const isOfService = ({ ofService, unreached, retryAfter }: ServiceFault): boolean =>
  ofService === true || unreached === true || retryAfter !== undefined;
