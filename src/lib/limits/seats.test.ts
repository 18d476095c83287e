import { describe, expect, it } from "vitest";
import { createSeats, type Seat } from "./seats.ts";

const token = { name: "token 1", most: 2 };
const other = { name: "token 2", most: 2 };
const account = { name: "account 1", most: 3 };
const leave = (seat: Seat) => seat.kind === "seat" && seat.leave();

describe("createSeats", () => {
  it("refuses a holder beyond their limit and leaves room for others", () => {
    const seats = createSeats(10);
    expect([1, 2, 3].map(() => seats.take([token]).kind)).toEqual(["seat", "seat", "full"]);
    expect(seats.take([token])).toEqual({ kind: "full", holder: token });
    expect(seats.take([other]).kind).toBe("seat");
    expect(seats.open()).toBe(3);
  });

  it("counts every holder of a stream, and a refusal counts for none", () => {
    const seats = createSeats(10);
    for (const each of [token, token, other]) seats.take([each, account]);
    expect(seats.take([other, account])).toEqual({ kind: "full", holder: account });
    expect(seats.take([other]).kind).toBe("seat");
  });

  it("has a limit for all holders together", () => {
    const seats = createSeats(1);
    seats.take([token]);
    expect(seats.take([other])).toEqual({ kind: "full" });
  });

  it("says for whom a seat is free", () => {
    const seats = createSeats(3);
    for (let i = 0; i < 2; i++) seats.take([token]);
    expect([token, other].map((each) => seats.isFreeFor([each]))).toEqual([false, true]);
    const last = seats.take([other]);
    expect(seats.isFreeFor([account])).toBe(false);
    leave(last);
    expect(seats.isFreeFor([account])).toBe(true);
  });

  it("gives a seat that was left to the next holder, and ignores a second `leave`", () => {
    const seats = createSeats(2);
    const [first] = [seats.take([token]), seats.take([token])];
    leave(first);
    leave(first);
    expect([seats.open(), seats.take([token]).kind, seats.take([token]).kind]).toEqual([1, "seat", "full"]);
  });
});
