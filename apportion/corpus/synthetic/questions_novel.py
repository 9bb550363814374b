"""Family ``novel``: segments, debt, legal matters, customers, people and the other things that only the text tells."""

from __future__ import annotations

from apportion.corpus.synthetic.borrowings import note_name
from apportion.corpus.synthetic.figures import REGIONS
from apportion.corpus.synthetic.layout import cents
from apportion.corpus.synthetic.notes import QUARTERS, plan_contributions, restated_amount
from apportion.corpus.synthetic.questions import Question, Template, dollars, percentage, printed
from apportion.corpus.synthetic.view import View


def largest_segment(view: View) -> Question:
    """The segment with the most revenue."""
    best = max(view.now.segments, key=lambda segment: segment.revenue)
    text = f"Which of {view.filer.possessive} segments had the highest revenue in FY{view.year}?"
    return Question(
        text,
        f"{best.name}, with revenue of {dollars(view, best.revenue)}.",
        ("segment_revenue",),
        printed(best.revenue),
    )


def shrinking_segment(view: View) -> Question:
    """The segment with the lowest growth."""
    growth = {
        now.name: now.revenue / before.revenue - 1
        for now, before in zip(view.now.segments, view.before.segments, strict=True)
    }
    worst = min(growth, key=lambda name: growth[name])
    place = list(growth).index(worst)
    text = (
        f"Which segment has dragged down {view.filer.possessive} overall revenue growth the most in "
        f"FY{view.year}, by its own growth rate?"
    )
    answer = f"{worst}, whose revenue changed by {percentage(growth[worst])}."
    shown = printed(view.now.segments[place].revenue, view.before.segments[place].revenue)
    return Question(text, answer, ("segment_revenue",), shown)


def segment_income(view: View) -> Question:
    """One segment's operating income."""
    segment = view.draw("segment").pick(view.now.segments)
    text = (
        f"How much operating income did the {segment.name} segment of {view.filer.brief} earn in "
        f"FY{view.year}?"
    )
    answer = f"The {segment.name} segment had operating income of {dollars(view, segment.income)}."
    return Question(text, answer, ("segment_income",), printed(segment.income))


def segment_share(view: View) -> Question:
    """One segment's share of revenue."""
    segment = view.draw("share").pick(view.now.segments)
    text = (
        f"What share of {view.filer.possessive} FY{view.year} revenue came from its {segment.name} segment? "
        "Answer in percent and round to one decimal place."
    )
    answer = percentage(segment.revenue / view.now["revenue"])
    return Question(text, answer, ("segment_revenue",), printed(segment.revenue, view.now["revenue"]))


def maturing(view: View) -> Question:
    """Debt that falls due in one of the next years."""
    place = view.draw("maturing").pick([i for i in range(5) if view.now.maturities[i]])
    due = view.year + 1 + place
    text = (
        f"As of the end of FY{view.year}, how much of {view.filer.possessive} debt matures in fiscal {due}?"
    )
    answer = f"{dollars(view, view.now.maturities[place])} of debt matures in fiscal {due}."
    return Question(text, answer, ("maturities",), (str(due), *printed(view.now.maturities[place])))


def available_credit(view: View) -> Question:
    """What is left of the credit line."""
    left = view.facts.revolver - view.facts.letters_of_credit
    text = (
        f"After letters of credit, how much of {view.filer.possessive} revolving credit facility was left "
        f"available at the end of FY{view.year}?"
    )
    return Question(
        text,
        f"{dollars(view, left)} was available, letters of credit taking "
        f"{dollars(view, view.facts.letters_of_credit)}.",
        ("revolver",),
        printed(left),
    )


def highest_rate(view: View) -> Question:
    """The dearest of the notes."""
    best = max(view.filer.notes, key=lambda note: (note.rate, note.face))
    label = note_name(best, view.year)
    text = (
        f"Which of {view.filer.possessive} senior notes outstanding at the end of FY{view.year} carries the "
        "highest interest rate?"
    )
    return Question(
        text,
        f"The {label}, of which {dollars(view, best.face)} was outstanding.",
        ("debt",),
        (label, *printed(best.face)),
    )


def damages(view: View) -> Question:
    """What a plaintiff asks for."""
    text = (
        f"How large are the damages that the complaint of {view.facts.plaintiff} Partners against "
        f"{view.filer.brief} "
        f"seeks, as reported for FY{view.year}?"
    )
    return Question(
        text,
        "The complaint alleges breach of a supply agreement and seeks damages of "
        f"{dollars(view, view.facts.claimed)}.",
        ("legal",),
        printed(view.facts.claimed),
    )


def court(view: View) -> Question:
    """Where a suit was brought."""
    text = (
        f"In which court is the suit of {view.facts.plaintiff} Partners against {view.filer.brief} pending?"
    )
    return Question(
        text, f"In {view.facts.court}.", ("legal",), (view.facts.court.split(" County")[0].split()[-1],)
    )


def accrual(view: View) -> Question:
    """What has been accrued for a suit."""
    text = (
        f"How much has {view.filer.brief} accrued at the end of FY{view.year} for the "
        f"{view.facts.plaintiff} Partners matter?"
    )
    return Question(
        text,
        f"It has accrued {dollars(view, view.facts.accrued)}, compared with "
        f"{dollars(view, view.prior_facts.accrued)} a year earlier.",
        ("accrual",),
        printed(view.facts.accrued),
    )


def customer(view: View) -> Question:
    """The largest customer's share."""
    text = (
        f"How much did one customer of {view.filer.brief} account for in FY{view.year}, and did any other "
        f"account for "
        "ten percent or more?"
    )
    return Question(
        text,
        f"One customer accounted for {view.facts.customer_share}% of consolidated revenue; no other "
        f"accounted for ten percent or more.",
        ("customer",),
        (f"{view.facts.customer_share}%",),
    )


def dividend_per_share(view: View) -> Question | None:
    """Dividends a share."""
    if not view.now["dividend"]:
        return None
    text = f"What total dividend per share did {view.filer.brief} declare for FY{view.year}?"
    return Question(
        text,
        f"It declared dividends of ${cents(view.now['dividend'])} per share.",
        ("dividends", "income"),
        (cents(view.now["dividend"]),),
    )


def authorization(view: View) -> Question | None:
    """What is left for buybacks."""
    if not view.filer.buys_back:
        return None
    text = (
        f"How much remained available under {view.filer.possessive} share repurchase authorization at the "
        f"end of FY{view.year}?"
    )
    return Question(
        text,
        f"{dollars(view, view.facts.remaining)} of the {dollars(view, view.facts.authorized)} authorized "
        "remained available.",
        ("repurchases",),
        printed(view.facts.remaining),
    )


def employees(view: View) -> Question:
    """Headcount, two years."""
    now, before = view.facts.employees, view.prior_facts.employees
    text = (
        f"How many people did {view.filer.brief} employ at the end of FY{view.year}, compared with a year "
        f"earlier?"
    )
    answer = f"It employed about {now:,} people, compared with about {before:,} a year earlier."
    return Question(text, answer, ("employees",), (f"{now:,}", f"{before:,}"))


def union(view: View) -> Question:
    """How many are under collective agreements."""
    text = (
        f"What share of {view.filer.possessive} employees was covered by collective agreements at the end "
        f"of FY{view.year}?"
    )
    return Question(
        text,
        f"{view.facts.union_share}% of about {view.facts.employees:,} people were covered.",
        ("employees",),
        (f"{view.facts.union_share}%",),
    )


def headquarters(view: View) -> Question:
    """Until when the headquarters are leased."""
    text = f"Until what year does the lease of {view.filer.possessive} headquarters run?"
    return Question(
        text,
        f"The lease of the headquarters runs until {view.facts.headquarters_until}.",
        ("lease_terms",),
        (str(view.facts.headquarters_until),),
    )


def event(view: View) -> Question:
    """What happened after the year's end."""
    amount = dollars(view, view.facts.event_amount)
    what = {
        "sale": f"It agreed to sell a part of the {view.now.segments[-1].name} segment for {amount} in cash.",
        "purchase": f"It agreed to buy a competitor of the {view.now.segments[0].name} segment for "
        f"{amount} in cash.",
        "notes": f"It agreed with banks to extend the revolving credit facility and to raise it by {amount}.",
    }[view.facts.event]
    text = f"What subsequent event did {view.filer.brief} report after the end of FY{view.year}?"
    return Question(text, what, ("event",), printed(view.facts.event_amount))


def best_quarter(view: View) -> Question:
    """The quarter with the most revenue."""
    place = max(range(4), key=lambda quarter: view.now.quarters[quarter]["revenue"])
    value = view.now.quarters[place]["revenue"]
    text = f"In which quarter of FY{view.year} was {view.filer.possessive} revenue the highest?"
    answer = f"In the {QUARTERS[place].lower()} quarter, with {dollars(view, value)}."
    return Question(text, answer, ("quarterly",), printed(value))


def region(view: View) -> Question:
    """The region with the biggest change."""
    changes = [now / before - 1 for now, before in zip(view.now.regions, view.before.regions, strict=True)]
    place = max(range(len(changes)), key=lambda i: changes[i])
    text = (
        f"For {view.filer.brief}, which geographic region had the strongest FY{view.year} year over year "
        "growth in revenues (on a percentage basis)?"
    )
    answer = f"{REGIONS[place]}, whose revenue changed by {percentage(changes[place])}."
    return Question(
        text,
        answer,
        ("regions",),
        (REGIONS[place], *printed(view.now.regions[place], view.before.regions[place])),
    )


def planned(view: View) -> Question:
    """What management plans to spend."""
    text = f"How much does {view.filer.brief} plan to spend on plant and equipment in FY{view.year + 1}?"
    return Question(
        text,
        f"It plans to spend about {dollars(view, view.facts.planned_capex)}.",
        ("planned_capex",),
        printed(view.facts.planned_capex),
    )


def lease_payments(view: View) -> Question:
    """Lease payments of the next year."""
    value = view.now.lease_payments[0]
    text = (
        f"What operating lease payments are due in fiscal {view.year + 1} according to "
        f"{view.filer.possessive} FY{view.year} filing?"
    )
    return Question(
        text,
        f"Payments of {dollars(view, value)} are due in fiscal {view.year + 1}.",
        ("lease_payments",),
        printed(value),
    )


def segment_list(view: View) -> Question:
    """The reportable segments."""
    names = [segment.name for segment in view.now.segments]
    text = f"What are {view.filer.possessive} reportable segments as of FY{view.year}?"
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return Question(
        text, f"There are {len(names)} reportable segments: {listed}.", ("segments",), (names[0],)
    )


def allegation(view: View) -> Question:
    """What a suit is about."""
    text = f"What does the complaint of {view.facts.plaintiff} Partners against {view.filer.brief} allege?"
    answer = (
        f"It alleges breach of a supply agreement and seeks damages of {dollars(view, view.facts.claimed)}."
    )
    return Question(text, answer, ("legal",), printed(view.facts.claimed))


def contributions(view: View) -> Question | None:
    """What went into savings plans."""
    if not view.filer.detail:
        return None
    now, before = plan_contributions(view)
    text = (
        f"How have {view.filer.possessive} contributions to savings plans for employees changed in "
        f"FY{view.year}?"
    )
    answer = (
        f"Contributions were {dollars(view, now)} in FY{view.year} and {dollars(view, before)} in "
        f"FY{view.year - 1}."
    )
    return Question(text, answer, ("retirement",), printed(now, before))


def outlets(view: View) -> Question | None:
    """How many outlets were opened."""
    if not view.filer.industry.outlets:
        return None
    text = (
        f"How many {view.filer.industry.outlets} did {view.filer.brief} open in FY{view.year}, and how many "
        "did it have at the end?"
    )
    answer = (
        f"It opened {view.opened} and had {view.facts.outlets:,} {view.filer.industry.outlets} at the end "
        "of the year."
    )
    return Question(text, answer, ("properties",), (f"opened {view.opened}", f"{view.facts.outlets:,}"))


def backlog(view: View) -> Question:
    """How the backlog moved."""
    now, before = view.facts.backlog, view.prior_facts.backlog
    text = (
        f"By how much did {view.filer.possessive} backlog of firm orders change in FY{view.year}? Answer in "
        "percent and round to one decimal place."
    )
    return Question(text, percentage(now / before - 1), ("backlog",), printed(now, before))


def reported_before(view: View) -> Question | None:
    """Revenue before a restatement."""
    if not view.restates:
        return None
    value = view.before["revenue"] - restated_amount(view, view.before)
    text = (
        f"What revenue had {view.filer.brief} previously reported for FY{view.year - 1}, before the "
        "restatement?"
    )
    return Question(text, dollars(view, value), ("restatement",), printed(value))


def purchase_price(view: View) -> Question | None:
    """What an acquisition cost."""
    if not view.now["acquisitions"]:
        return None
    text = (
        f"How much did {view.filer.brief} pay for the business that it acquired in FY{view.year}, and how "
        "much of it was recorded as goodwill?"
    )
    answer = (
        f"{dollars(view, view.now['acquisitions'])}, of which "
        f"{dollars(view, view.now['acquired_goodwill'])} was recorded as goodwill."
    )
    return Question(
        text, answer, ("acquisitions",), printed(view.now["acquisitions"], view.now["acquired_goodwill"])
    )


TEMPLATES: tuple[Template, ...] = (
    reported_before,
    largest_segment,
    maturing,
    customer,
    employees,
    purchase_price,
    segment_income,
    available_credit,
    damages,
    authorization,
    best_quarter,
    outlets,
    region,
    accrual,
    dividend_per_share,
    event,
    shrinking_segment,
    lease_payments,
    union,
    planned,
    highest_rate,
    segment_share,
    court,
    segment_list,
    allegation,
    contributions,
    backlog,
    headquarters,
)
