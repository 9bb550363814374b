"""Everything that isn't a statement or a note: cover, business, risks, legal proceedings, discussion and the rest."""

from __future__ import annotations

from apportion.corpus.synthetic import boilerplate as same
from apportion.corpus.synthetic.figures import FIRST_YEAR
from apportion.corpus.synthetic.filers import MONTHS
from apportion.corpus.synthetic.layout import in_words, percent
from apportion.corpus.synthetic.view import Block, Section, View, people, text, titled


def cover(view: View) -> Section:
    """The cover page."""
    filer = view.filer
    lines = (
        "UNITED STATES",
        "SECURITIES AND EXCHANGE COMMISSION",
        "FORM 10-K",
        "(Mark One)",
        "ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934",
        f"For the fiscal year ended {view.ended(view.year)}",
        "",
        filer.name,
        "(Exact name of registrant as specified in its charter)",
        f"{filer.state}   (State of incorporation)",
        f"{100 + filer.index % 800} Commerce Road, {filer.town}",
        "(Address of principal executive offices)",
        "",
        "Securities registered pursuant to Section 12(b) of the Act:",
        f"Common stock, $0.01 par value   Trading symbol: {filer.ticker}",
        "",
        "Indicate by check mark whether the registrant is a well-known seasoned issuer. Yes  No",
        "Indicate by check mark whether the registrant has filed all reports required during the preceding "
        "12 months. Yes  No",
        f"Number of common shares outstanding: {view.now['shares']:,} {filer.unit.removesuffix('s')}.",
        "DOCUMENTS INCORPORATED BY REFERENCE: parts of the proxy statement for the annual meeting (Part "
        "III).",
        f"This company is fictional; its name, symbol ({filer.ticker}) and figures were generated.",
    )
    return Section("cover", None, "", (Block("\n".join(lines), "cover"),))


def forward_looking() -> Block:
    """The caution that stands under the table of contents."""
    return titled("FORWARD-LOOKING STATEMENTS", *same.FORWARD_LOOKING)


def business(view: View) -> Section:
    """Item 1."""
    filer, facts, industry = view.filer, view.facts, view.filer.industry
    segments = view.now.segments
    blocks = [
        titled(
            "ITEM 1. BUSINESS",
            f'{filer.name} ("{filer.short_name}", "we") supplies {industry.offering}. Our customers are '
            f"{industry.customers}. We were incorporated in {filer.state} and have our headquarters in "
            f"{filer.town}. Our fiscal year ends on the last day of {MONTHS[filer.year_end]}. In fiscal "
            f"{view.year} our revenue was {in_words(view.now['revenue'], filer.unit)}.",
            tag="business",
        ),
    ]
    for segment in segments:
        share = percent(segment.revenue, view.now["revenue"], 0)
        blocks.append(
            titled(
                segment.name,
                f"{segment.name} contributed about {share} of revenue in fiscal {view.year}. The segment "
                f"sells to {industry.customers} through its own sales force and, in smaller markets, "
                f"through agents. Demand depends on {industry.rises[0]} and on the spending plans of "
                "customers. We compete on quality, delivery and price; no competitor leads in all markets.",
                "Orders are usually delivered within a few weeks, so that the backlog at any one time says "
                "little about the year ahead. The segment buys from many suppliers, and no purchase "
                "agreement is material to the company as a whole.",
            )
        )
    blocks += [
        titled(
            "Customers",
            "Our largest customer accounted for "
            f"{'more' if facts.customer_share > view.prior_facts.customer_share else 'less'} of revenue "
            "than a year ago; see the notes to the financial statements. The loss of it would hurt our "
            "results. Sales to governments were not material.",
        ),
        titled(
            "Backlog",
            f"Our backlog of firm orders was {view.million(facts.backlog)} at the end of fiscal "
            f"{view.year}, against {view.million(view.prior_facts.backlog)} a year earlier. We expect to "
            "fill most of it within twelve months.",
            tag="backlog",
        ),
        titled(
            "Human capital",
            f"At {view.ended(view.year)} we employed about {facts.employees:,} people, of whom "
            f"{facts.union_share}% were covered by collective agreements. A year earlier we employed about "
            f"{view.prior_facts.employees:,}. We regard relations with our employees as good, train "
            "apprentices at our larger sites and measure safety by lost days.",
            tag="employees",
        ),
        titled(
            "Regulation",
            "Our operations are subject to laws on the environment, health and safety, transport, privacy "
            "and trade. We spend what is needed to comply, and do not expect that spending to be material "
            "in the coming year.",
        ),
        titled(
            "Available information",
            "Our reports are available free of charge on our website as soon as they have been filed. "
            "Nothing on the website is part of this report.",
        ),
    ]
    return Section("text", "1", "Business", tuple(blocks))


def risks(view: View) -> Section:
    """Item 1A: the same words in every filing, in an order of the filer's own."""
    order = view.filer.draw("risks").shuffled(same.RISKS)[: view.filer.risk_count]
    return Section(
        "text",
        "1A",
        "Risk Factors",
        (
            text(
                "ITEM 1A. RISK FACTORS",
                "Each of the following risks could harm our business, our results and the price of our "
                "shares. Others that we do not know of, or hold to be small, could do so too.",
            ),
            *(titled(*risk) for risk in order),
        ),
    )


def properties(view: View) -> Section:
    """Items 1B to 5: properties, legal proceedings and the market for the stock."""
    filer, facts = view.filer, view.facts
    outlets = (
        f" We began the year with {view.prior_facts.outlets:,} {filer.industry.outlets}, opened "
        f"{view.opened} and closed {facts.closed}, and ended it with {facts.outlets:,}."
        if filer.industry.outlets
        else ""
    )
    blocks = (
        titled("ITEM 1B. UNRESOLVED STAFF COMMENTS", "None."),
        titled(
            "ITEM 2. PROPERTIES",
            f"We operate {facts.sites} {filer.industry.sites}, about a third of them leased. Our "
            f"headquarters in {filer.town} are leased. We consider our properties suitable and sufficient "
            f"for our present needs.{outlets}",
            tag="properties",
        ),
        titled(
            "ITEM 3. LEGAL PROCEEDINGS",
            f"In fiscal {FIRST_YEAR - 1} {facts.plaintiff} Partners brought suit against us in "
            f"{facts.court}. The complaint alleges breach of a supply agreement and seeks damages of "
            f"{view.million(facts.claimed)}. We believe that we have sound defenses and intend to contest "
            "the claim. A trial has not been set.",
            "We are also party to other suits and claims that arise in the ordinary course of business. We "
            "do not believe that their outcome, taken together, will have a material effect on our "
            "financial position, though it could affect the results of a period.",
            tag="legal",
        ),
        titled("ITEM 4. MINE SAFETY DISCLOSURES", "Not applicable."),
        _market(view),
        _selected(view),
    )
    return Section("text", "2", "Properties, Legal Proceedings and Market for Common Equity", blocks)


def _selected(view: View) -> Block:
    years = view.three
    names = (("Revenue", "revenue"), ("Operating income", "operating"), ("Net income", "net_income"))
    closing = (("Cash and cash equivalents", "cash"), ("Total assets", "assets"), ("Total debt", "debt"))
    rows = [view.rows(label, name, years) for label, name in (*names, *closing)]
    head = view.flow_header(years, view.spread_notes)
    return Block("ITEM 6. SELECTED FINANCIAL DATA\n" + view.note_table(head, rows), "selected")


def _market(view: View) -> Block:
    now = view.now
    draw = view.draw("holders")
    dividends = (
        f"We paid dividends in every quarter of fiscal {view.year}, in total "
        f"{in_words(now['dividends'], view.filer.unit)}."
        if now["dividend"]
        else f"We paid no dividends on our common stock in fiscal {view.year} and do not expect to pay any "
        f"in the coming year."
    )
    return titled(
        "ITEM 5. MARKET FOR THE REGISTRANT'S COMMON EQUITY",
        f"Our common stock is listed under the symbol {view.filer.ticker}. There were "
        f"{draw.integer(900, 24_000):,} holders of record. {dividends} Future dividends are for the board "
        "to decide.",
        tag="market",
    )


def audit_report(view: View) -> Section:
    """The auditor's report."""
    blocks = (
        text(
            "REPORT OF INDEPENDENT REGISTERED PUBLIC ACCOUNTING FIRM",
            f"To the board of directors and {view.filer.owners}",
        ),
        *(text(each) for each in same.AUDIT),
    )
    return Section("text", "8", "Report of Independent Registered Public Accounting Firm", blocks)


def closing(view: View) -> list[Section]:
    """Items 9A to 15, exhibits and signatures."""
    filer = view.filer
    filed = filer.filed_at(view.year)
    titles = (
        "Chief Executive Officer",
        "Chief Financial Officer",
        "Chief Accounting Officer",
        "Chair of the Board",
    )
    signed = [f"/s/ {name}\n{name}\n{title}" for name, title in zip(filer.executives, titles, strict=True)]
    signed += [f"/s/ {name}\n{name}\nDirector" for name in people(filer)]
    return [
        Section(
            "text",
            "9A",
            "Controls and Procedures; Directors, Compensation and Ownership",
            (
                titled("ITEM 9A. CONTROLS AND PROCEDURES", *same.CONTROLS),
                titled("PART III. ITEMS 10 TO 14", *same.GOVERNANCE),
            ),
        ),
        Section(
            "exhibits",
            "15",
            "Exhibits",
            (Block("\n".join(("ITEM 15. EXHIBITS AND FINANCIAL STATEMENT SCHEDULES", *same.EXHIBITS))),),
        ),
        Section(
            "signatures",
            None,
            "Signatures",
            (
                Block(
                    "\n\n".join(
                        (
                            "SIGNATURES\nPursuant to the requirements of Section 13 or 15(d) of the "
                            "Securities Exchange Act of 1934, the registrant has duly caused this report "
                            f"to be signed on its behalf.\n{filer.name}\nDate: {MONTHS[filed.month]} "
                            f"{filed.day}, {filed.year}",
                            *signed,
                        )
                    ),
                    "signatures",
                ),
            ),
        ),
    ]
