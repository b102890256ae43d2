// SPDX-License-Identifier: MIT
// The filter as a form: conditions on properties, or the expression itself.
import { button, make } from "../dom.js";
import { conditionsOf, conditionText, exampleFilter, filterOf, operators, proposedFact } from "./conditions.js";

/** As many choices are shown as boxes to tick; of more, texts are proposed while one writes. */
const mostBoxes = 14;

export class FilterForm {
    /**
     * @param {object} parts elements: form, rows, add, mode (a checkbox for the expression), expression (a text), chips, error
     * @param {(filter: string) => Promise<boolean>} onApply whether the filter was accepted
     */
    constructor(parts, onApply) {
        Object.assign(this, parts, { onApply, facts: [] });
        this.form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.apply();
        });
        this.add.addEventListener("click", () => this.addRow()?.querySelector("select").focus());
        this.mode.addEventListener("change", () => this.switchMode());
    }

    /** Takes over a source's properties, and the filter that is applied. */
    begin(facts, filter) {
        this.facts = facts;
        const example = JSON.stringify(exampleFilter(facts));
        this.expression.placeholder = example;
        this.set(filter);
    }

    /** Shows a filter: as conditions if it was made of some. */
    set(filter) {
        const conditions = conditionsOf(parsed(filter));
        // Who has written the expression goes on writing it.
        const isWritten = this.mode.checked && filter !== "" && filter === this.expression.value.trim();
        this.expression.value = filter;
        this.mode.checked = conditions === undefined || isWritten;
        const focused = this.fields().indexOf(document.activeElement);
        this.rows.replaceChildren();
        for (const condition of conditions ?? []) this.addRow(condition);
        if (!this.rows.childElementCount) this.addRow();
        this.showMode();
        // The rows are new; who applies a filter from one of them stays there.
        if (focused >= 0) this.fields().at(Math.min(focused, this.fields().length - 1))?.focus();
        this.showChips(filter, conditions);
    }

    showMode() {
        const isExpression = this.mode.checked;
        this.expression.closest("label").hidden = !isExpression;
        this.rows.hidden = this.add.hidden = isExpression || !this.facts.length;
    }

    /** Between conditions and the expression: what was written goes along, if the other side can say it. */
    switchMode() {
        if (this.mode.checked) {
            const filter = filterOf(this.conditions());
            this.expression.value = filter === undefined ? "" : JSON.stringify(filter);
        } else {
            const conditions = conditionsOf(parsed(this.expression.value));
            if (!conditions) {
                this.mode.checked = true;
                this.error("This expression says something that conditions cannot. Clear it to begin with conditions.");
                return;
            }
            this.rows.replaceChildren();
            for (const condition of conditions) this.addRow(condition);
            if (!conditions.length) this.addRow();
        }
        this.error("");
        this.showMode();
        (this.mode.checked ? this.expression : this.rows.querySelector("select"))?.focus();
    }

    /** What is applied, in words, beside the button that opens the form. */
    showChips(filter, conditions) {
        const texts = filter ? (conditions?.map(conditionText) ?? [filter]) : [];
        const remove = (index) => {
            const rest = conditions?.toSpliced(index, 1) ?? [];
            const left = filterOf(rest);
            this.onApply(left === undefined ? "" : JSON.stringify(left));
        };
        this.chips.replaceChildren(...texts.map((text, index) => make("span", { className: "chip" },
            make("span", {}, text), button("×", () => remove(index), { "aria-label": `Remove: ${text}`, title: "Remove this condition" }))));
        this.chips.hidden = !texts.length;
    }

    fields() {
        return [...this.rows.querySelectorAll("select, input, button")];
    }

    conditions() {
        return [...this.rows.children].map((row) => row.read()).filter(Boolean);
    }

    async apply() {
        if (this.mode.checked) return this.onApply(this.expression.value.trim());
        const filter = filterOf(this.conditions());
        return this.onApply(filter === undefined ? "" : JSON.stringify(filter));
    }

    /** @param {import("./conditions.js").Condition} [condition] */
    addRow(condition) {
        if (!this.facts.length) return undefined;
        const first = proposedFact(this.facts, [...this.rows.querySelectorAll("[aria-label=Property]")].map(({ value }) => value));
        const known = this.facts.map(({ name }) => name);
        if (condition && !known.includes(condition.property)) known.push(condition.property);
        const property = make("select", { "aria-label": "Property" }, ...known.map((name) => make("option", { value: name }, name)));
        const operator = make("select", { "aria-label": "Condition" });
        const value = make("span", { className: "value" });
        const row = make("div", { className: "condition", role: "group", "aria-label": "Condition" }, property, operator, value,
            button("×", () => {
                row.remove();
                if (!this.rows.childElementCount) this.addRow();
                this.fields()[0]?.focus();
            }, { className: "remove", "aria-label": "Remove the condition", title: "Remove the condition" }));
        const factOf = () => this.facts.find(({ name }) => name === property.value) ?? { name: property.value, kind: "text", values: [], numbers: [] };
        const showValue = (held) => {
            const field = valueField(factOf(), operator.value, held);
            value.replaceChildren(...field.elements);
            row.read = () => {
                const found = field.read();
                return { property: property.value, operator: operator.value, value: found };
            };
        };
        const showOperators = (held) => {
            const offered = [...operators(factOf())];
            if (held && !offered.includes(held)) offered.push(held);
            operator.replaceChildren(...offered.map((name) => make("option", { value: name }, name)));
            if (held) operator.value = held;
        };
        property.value = condition?.property ?? first.name;
        showOperators(condition?.operator);
        showValue(condition?.value);
        property.addEventListener("change", () => {
            showOperators();
            showValue();
        });
        operator.addEventListener("change", () => showValue());
        this.rows.append(row);
        return row;
    }
}

function parsed(filter) {
    if (!filter) return undefined;
    try {
        return JSON.parse(filter);
    } catch {
        return null;
    }
}

let lists = 0;

/**
 * The fields of a condition's value.
 * @returns {{elements: HTMLElement[], read: () => any}}
 */
function valueField(fact, operator, held) {
    if (["is true", "is false", "is known", "is missing"].includes(operator)) return { elements: [], read: () => undefined };
    if (operator === "between") return rangeField(fact, held);
    if (operator === "one of") return choiceField(fact, held);
    const isNumber = fact.kind === "number";
    const type = isNumber ? "number" : fact.kind === "date" && operator !== "contains" ? "date" : "text";
    const list = type === "text" && fact.values.length ? listOf(fact) : undefined;
    const placeholder = isNumber ? `${fact.least} to ${fact.greatest}` : fact.values[0] ? String(fact.values[0][0]) : "";
    const input = make("input", { type, step: "any", placeholder, "aria-label": "Value", value: held ?? "", list: list?.id, autocomplete: "off" });
    return {
        elements: [input, list].filter(Boolean),
        read: () => (input.value === "" ? undefined : isNumber ? Number(input.value) : input.value),
    };
}

function listOf(fact) {
    lists += 1;
    return make("datalist", { id: `values-${lists}` }, ...fact.values.map(([value]) => make("option", { value: String(value) })));
}

function rangeField(fact, [from, to] = []) {
    const isNumber = fact.kind === "number";
    const field = (label, value, placeholder) => make("input", {
        type: isNumber ? "number" : "date", step: isNumber ? "any" : undefined, "aria-label": label, value: value ?? "",
        placeholder: placeholder === undefined ? "" : String(placeholder), title: placeholder === undefined ? "" : `The source has ${fact.least} to ${fact.greatest}`,
        min: isNumber ? "" : String(fact.least ?? "").slice(0, 10), max: isNumber ? "" : String(fact.greatest ?? "").slice(0, 10),
    });
    const [first, last] = [field("From", from, fact.least), field("To", to, fact.greatest)];
    const read = (input) => (input.value === "" ? undefined : isNumber ? Number(input.value) : input.value);
    return { elements: [first, make("span", {}, "and"), last], read: () => [read(first), read(last)] };
}

function choiceField(fact, held = []) {
    const offered = fact.values.map(([value]) => value);
    for (const value of held) if (!offered.includes(value)) offered.push(value);
    if (offered.length <= mostBoxes) {
        const boxes = offered.map((value) => make("input", { type: "checkbox", checked: held.includes(value) }));
        const group = make("span", { className: "boxes" }, ...boxes.map((box, index) => make("label", {}, box, String(offered[index]) || "(empty)")));
        return { elements: [group], read: () => offered.filter((_, index) => boxes[index].checked) };
    }
    const select = make("select", { multiple: true, size: 5, "aria-label": "Values; several with Ctrl" },
        ...offered.map((value) => make("option", { value: String(value), selected: held.includes(value) }, String(value) || "(empty)")));
    return { elements: [select], read: () => [...select.options].flatMap((option, index) => (option.selected ? [offered[index]] : [])) };
}
