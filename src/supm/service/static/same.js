// What makes two questions the same, in whichever study they are asked: all that decides how a
// record is read and told. The rule is that of supm.owner.owner.

// One text for one value, by RFC 8785: keys sorted by UTF-16 units, nothing padded, and numbers as
// this language writes them. What Python hashes is written by the same rule.
export function canonical(value) {
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join(",")}]`;
  }
  if (value === null || typeof value !== "object") {
    return JSON.stringify(value ?? null);
  }
  const names = Object.keys(value).sort();
  return `{${names.map((each) => `${JSON.stringify(each)}:${canonical(value[each])}`).join(",")}}`;
}

// The question of a phase as one text, from the study's document.
export function questionText(document, phase) {
  const { schema, classes } = document;
  const question = document.questions.find((each) => each.phase === phase);
  const { form, epsilon, steps, sampled } = question;
  const all = schema.attributes.map((each) => each.name);
  const asked = phase === "reduce" ? all : document.attributes;
  const merges = phase === "reduce" ? null : document.merges;
  const rule = form === "answer" ? document.rule : null;
  const labelled = phase !== "test";
  const told = [form, epsilon, steps, sampled, labelled];
  return canonical([schema, asked, classes, told, merges, rule]);
}
