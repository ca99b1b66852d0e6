// Randomness: words of 64 bits from the browser, compared with whole-number thresholds.
//
// Each probability is then an exact fraction. Words are used in the order in which supm.collection
// uses them, so that the same words give the same symbols in Python and here.

export const WORDS = 1n << 64n;

// One word from the browser's cryptographic generator.
export function secureWord() {
  const drawn = new BigUint64Array(1);
  crypto.getRandomValues(drawn);
  return drawn[0];
}

// Words that a test gives; there is no other use for them.
export function wordsFrom(list) {
  const left = list.map(BigInt).reverse();
  return () => {
    if (left.length === 0) {
      throw new Error("there are no words left.");
    }
    return left.pop();
  };
}

// A uniform whole number below a bound: words left over by the division are drawn again.
export function below(bound, words) {
  if (bound === 1) {
    return 0;
  }
  const limit = BigInt(bound);
  const run = WORDS / limit;
  for (;;) {
    const drawn = words() / run;
    if (drawn < limit) {
      return Number(drawn);
    }
  }
}

// One of inside + outside cells; the threshold says how many words fall inside.
export function twoLevel(inside, outside, threshold, words) {
  const word = words();
  if (word < threshold) {
    const cell = Number(word / (threshold / BigInt(inside)));
    return cell < inside ? cell : below(inside, words);
  }
  const run = (WORDS - threshold) / BigInt(outside);
  const cell = run === 0n ? outside : Number((word - threshold) / run);
  return inside + (cell < outside ? cell : below(outside, words));
}

// Different places below a count, in increasing order: those of the smallest keys.
export function drawPlaces(count, sampled, words) {
  if (sampled === 1) {
    return [below(count, words)];
  }
  const keys = Array.from({ length: count }, (_, place) => ({ place, key: words() }));
  keys.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
  const places = keys.slice(0, sampled).map((each) => each.place);
  return places.sort((one, other) => one - other);
}

// The group of an owner, by public weights and not by the record.
export function drawGroup(groups, words = secureWord) {
  let left = below(groups.reduce((sum, each) => sum + each, 0), words);
  return groups.findIndex((weight) => (left -= weight) < 0);
}
