"""Text that filings share word for word, whoever files them. Written for this sample."""

from __future__ import annotations

FORWARD_LOOKING = (
    "This annual report contains statements about what we expect, plan, estimate or intend. Such "
    "statements are not facts about the past. They rest on what management knew and assumed when this "
    "report was prepared, and events may turn out otherwise for many reasons, those named under Risk "
    "Factors among them. Words such as \"expect\", \"believe\", \"should\", \"outlook\" and \"target\" "
    "mark many of these statements, though not all of them.",
    "Readers should give these statements no more weight than they deserve. Each speaks only as of the day "
    "on which this report was filed. Unless the law demands it, we take on no duty to revise any of them "
    "when later events or new information show that an assumption no longer holds.",
)  # fmt: skip

RISKS: tuple[tuple[str, str], ...] = (
    ("Our results depend on general economic conditions.",
     "When output, employment or confidence falls, our customers spend less and may postpone orders that "
     "they have already discussed with us. A downturn can therefore lower our revenue faster than we can "
     "lower our costs, many of which are fixed for a year or longer. It may also make it harder for "
     "customers to pay us and for suppliers to deliver."),
    ("The costs of materials, energy and labor may rise faster than our prices.",
     "We buy from suppliers whose own costs move with commodity markets, and we compete for workers with "
     "employers in other trades. Contracts with customers often fix prices for a season or a year. If "
     "costs rise in the meantime, our gross margin suffers until prices can be changed, and customers may "
     "turn to others when they are."),
    ("We face strong competition.",
     "Some competitors are larger than we are, have lower costs or are better known. Others are small and "
     "accept low returns to win business. We may have to lower prices, spend more on marketing and "
     "development or give up business in order to keep an acceptable return, and new entrants may serve "
     "customers in ways that we have not foreseen."),
    ("A small number of customers accounts for a large part of our revenue.",
     "Our largest customers buy under agreements that can be ended at short notice or that oblige them to "
     "buy nothing. The loss of one of them, a merger among them or a change in how they buy could lower "
     "our revenue and leave us with capacity and stocks for which there is no other use."),
    ("We may not be able to protect our information systems.",
     "We rely on our own systems and on those of others to take orders, pay wages and close our books. "
     "Attempts to break into them have become more frequent and more skilful. A successful attack could "
     "stop operations, disclose confidential information, expose us to claims and cost a great deal to "
     "repair, and our insurance may not cover all of it."),
    ("Our business is subject to laws that change.",
     "We must comply with rules on product safety, the environment, employment, privacy, trade and taxes "
     "at every level of government. Complying is costly, and failing to comply can lead to fines, to "
     "orders to stop and to harm to our name. New rules, or new readings of old ones, may oblige us to "
     "spend more or to change how we do business."),
    ("We may not realize the benefits that we expect of acquisitions.",
     "Businesses that we buy may have liabilities that we did not find, may lose customers and key people "
     "once they are ours, and may take longer to integrate than planned. Goodwill recorded on a purchase "
     "is tested at least once a year, and a shortfall of what was expected can lead to impairment charges "
     "that are large in relation to our earnings."),
    ("Our debt limits what we can do.",
     "Part of our cash flow goes to interest and repayment and is not there for other purposes. Our credit "
     "agreement contains covenants that restrict further borrowing, liens, sales of assets and payments to "
     "owners. A breach would allow lenders to demand repayment at once, and we might be unable to "
     "refinance on terms that we could bear."),
    ("Changes in interest rates affect our costs.",
     "Borrowings under the term loan bear interest at rates that move with the market. An increase in "
     "those rates raises our interest expense and lowers cash flow. It may also lower the value of our "
     "investments and make customers who finance their purchases more reluctant to buy."),
    ("We depend on people who could leave.",
     "The knowledge of our managers, engineers and skilled workers is not easily replaced. Others seek the "
     "same people. If we cannot attract and keep them at a cost that we can bear, service and development "
     "will suffer and projects will be late."),
    ("Interruptions of supply could stop our operations.",
     "Some of what we need comes from one source or from one part of the world. Fire, storms, strikes, "
     "closed ports, disease and political events can interrupt deliveries to us or from us. We carry "
     "insurance and keep alternatives where it pays to do so, but neither would make good a long "
     "interruption."),
    ("Claims and legal proceedings may be decided against us.",
     "We are party to suits and claims in the ordinary course of business, about products, contracts, "
     "employment, patents and the environment. Their outcome cannot be predicted. A decision against us "
     "could exceed what we have accrued or insured, and defending even a claim without merit takes money "
     "and the attention of management."),
    ("Our intellectual property may be challenged or copied.",
     "We rely on patents, trademarks and secrets that others may contest, design around or take. "
     "Protection differs from country to country. Others may assert that we use what is theirs, and we may "
     "have to pay royalties, change what we sell or stop selling it."),
    ("Currency movements affect reported results.",
     "We earn and spend in several currencies but report in one. When the dollar strengthens, revenue "
     "earned elsewhere is worth less once it is translated. We hedge some exposures for limited periods, "
     "and hedges may themselves give rise to losses."),
    ("Our effective tax rate may change.",
     "Our tax depends on where we earn income, on the laws of each place and on positions that authorities "
     "may contest. A change in any of these could raise the amount that we owe for past or future years. "
     "Deferred tax assets may turn out not to be recoverable, and a valuation allowance would then lower "
     "our earnings."),
    ("Physical effects of a changing climate, and the response to it, could raise costs.",
     "Several of our sites lie where floods, heat or a shortage of water are becoming more common. Rules "
     "that price or limit emissions may raise the cost of energy and transport. Customers may ask for "
     "products with a smaller footprint than those that we are able to offer."),
    ("Our share price may fluctuate.",
     "The market price of our shares may move for reasons that have little to do with our performance: a "
     "change in estimates by analysts, sales by large holders, events at other companies, or the mood of "
     "markets as a whole. Suits by holders often follow a fall in price and are costly to defend."),
    ("We cannot promise that dividends or repurchases will continue.",
     "Whether we pay a dividend or buy back shares is for our board to decide from quarter to quarter, in "
     "view of earnings, cash, covenants and other uses of capital. Either may be reduced, suspended or "
     "ended at any time without notice."),
    ("Weaknesses in internal control could lead to errors in our reports.",
     "No system of control gives certainty. If we find a material weakness, or if our auditor does, "
     "investors may lose trust in our figures, and putting it right may take time and money. Changes of "
     "systems and acquisitions make this more likely."),
    ("Product defects could harm customers and our name.",
     "What we sell must meet exacting standards. A defect may lead to recalls, warranty costs, claims for "
     "injury and lost orders. We test and inspect, and we carry insurance, but a serious defect could cost "
     "more than we are insured for."),
    ("Provisions of our charter may discourage a takeover.",
     "Our charter allows the board to issue preferred shares, requires notice of proposals and restricts "
     "action by written consent. State law restricts some combinations. These provisions may delay or "
     "prevent an offer that holders would welcome."),
    ("Our pension and health obligations may grow.",
     "The cost of promises to present and former employees depends on returns, rates, lifespans and the "
     "price of care. If these develop worse than assumed, we may have to pay more into our plans and "
     "record higher expense."),
    ("Seasonal patterns make quarters hard to compare.",
     "Demand for much of what we sell follows the weather, holidays and customers' budgets. A weak result "
     "in a strong season can weigh on the whole year, and results of one quarter say little about those of "
     "the next."),
    ("Epidemics may disrupt our operations and those of our customers.",
     "Measures against the spread of disease have closed sites, slowed transport and shifted demand, and "
     "may do so again. How long such effects last, and how demand behaves afterwards, is beyond our "
     "control and hard to plan for."),
)  # fmt: skip

CONTROLS = (
    "Management, with the participation of the chief executive officer and the chief financial officer, "
    "evaluated our disclosure controls and procedures as of the end of the period covered by this report. "
    "On that evaluation these officers concluded that the controls were effective in ensuring that "
    "information required to be disclosed is recorded, processed, summarized and reported within the times "
    "that the rules set, and is passed to management in time for decisions about disclosure.",
    "Management is responsible for establishing and maintaining adequate internal control over financial "
    "reporting. Because of its inherent limits, internal control may not prevent or detect every "
    "misstatement, and a projection of any evaluation to future periods runs the risk that controls become "
    "inadequate as conditions change or that compliance with them deteriorates.",
    "There was no change in our internal control over financial reporting during the last fiscal quarter "
    "that has materially affected, or is reasonably likely to materially affect, our internal control over "
    "financial reporting.",
)  # fmt: skip

POLICIES: tuple[tuple[str, str], ...] = (
    ("Basis of presentation.",
     "The consolidated financial statements include the accounts of the company and of the subsidiaries "
     "that it controls. Balances and transactions between them have been eliminated. The statements follow "
     "accounting principles generally accepted in the United States of America."),
    ("Use of estimates.",
     "Preparing financial statements requires estimates and assumptions that affect reported amounts of "
     "assets, liabilities, revenue and expenses and the disclosure of contingencies. Actual results could "
     "differ from those estimates, and the differences could be material."),
    ("Revenue recognition.",
     "Revenue is recognized when control of goods or services passes to the customer, in the amount that "
     "we expect to be entitled to. Returns, rebates and allowances are estimated from experience and lower "
     "revenue in the period of the sale. Taxes collected from customers are left out of revenue. Payment "
     "is usually due within thirty to ninety days."),
    ("Cash and cash equivalents.",
     "Cash equivalents are highly liquid investments that mature within three months of purchase. Their "
     "carrying amount is close to fair value because they mature so soon."),
    ("Receivables.",
     "Receivables are carried at the amount billed less an allowance for expected credit losses. The "
     "allowance reflects past losses, the age of balances and what is known of the condition of customers "
     "and of the economy."),
    ("Inventories.",
     "Inventories are stated at the lower of cost and net realizable value, cost being determined by the "
     "first-in, first-out method. Cost includes materials, labor and a share of overhead. Slow-moving "
     "items are written down to what they are expected to bring."),
    ("Property and depreciation.",
     "Property is carried at cost less accumulated depreciation, computed by the straight-line method over "
     "lives of ten to forty years for buildings and three to fifteen years for equipment. Repairs are "
     "expensed as they are made; improvements are capitalized."),
    ("Goodwill and intangible assets.",
     "Goodwill is tested for impairment in the fourth quarter of each year and whenever events suggest "
     "that the fair value of a reporting unit may have fallen below its carrying amount. Other intangible "
     "assets are amortized over the periods in which they are expected to be of use."),
    ("Leases.",
     "Leases longer than twelve months are recognized as assets and liabilities at the present value of "
     "the payments, discounted at our incremental borrowing rate. Expense of operating leases is "
     "recognized evenly over the term. Variable payments are expensed as they arise."),
    ("Income taxes.",
     "Deferred taxes reflect differences between the carrying amounts of assets and liabilities and their "
     "tax bases, at rates expected to apply when the differences reverse. A valuation allowance is "
     "recorded where it is more likely than not that an asset will not be realized."),
    ("Share-based compensation.",
     "Awards are measured at fair value on the day of grant and expensed over the period of service. "
     "Forfeitures are recognized as they occur."),
    ("New accounting standards.",
     "Standards issued but not yet effective are not expected to have a material effect on the financial "
     "statements. Standards adopted during the year concerned disclosure and the accounting for reference "
     "rates, and had no material effect."),
)  # fmt: skip

AUDIT = (
    "We have audited the accompanying consolidated balance sheets and the related consolidated statements "
    "of income, comprehensive income, shareholders' equity and cash flows, and the related notes. In our "
    "opinion the financial statements present fairly, in all material respects, the financial position of "
    "the company and the results of its operations and its cash flows, in conformity with accounting "
    "principles generally accepted in the United States of America.",
    "We conducted our audits in accordance with the standards of the Public Company Accounting Oversight "
    "Board. Those standards require that we plan and perform the audit to obtain reasonable assurance "
    "about whether the financial statements are free of material misstatement, whether due to error or "
    "fraud. Our audits included procedures to assess those risks and to respond to them.",
    "Critical audit matters are matters that were communicated to the audit committee, that relate to "
    "accounts material to the financial statements and that involved especially challenging judgment. We "
    "determined that the valuation of goodwill was such a matter. We tested the forecasts of revenue and "
    "margin that management used, compared them with past results, and examined the discount rates with "
    "the help of specialists.",
)  # fmt: skip

GOVERNANCE = (
    "The information required by this item about directors, the code of conduct, the audit committee and "
    "the nomination of directors will stand in our proxy statement for the annual meeting and is "
    "incorporated by reference. The proxy statement will be filed within 120 days of the end of the fiscal "
    "year.",
    "The information required about executive compensation, ownership of securities, related transactions, "
    "the independence of directors and the fees of our principal accountant will stand in the same proxy "
    "statement and is incorporated by reference.",
)  # fmt: skip

ESTIMATES = (
    "The preparation of our financial statements requires judgments about matters that are uncertain. We "
    "consider an estimate critical if it was highly uncertain when it was made and if a different "
    "estimate, which we could reasonably have used, would have changed our results materially. We have "
    "discussed these estimates with the audit committee.",
    "Goodwill. The fair value of a reporting unit is estimated from discounted cash flows and from "
    "multiples of comparable businesses. The most important assumptions are growth in revenue, operating "
    "margin and the discount rate. A rise of one point in the discount rate would not have caused an "
    "impairment beyond those recorded.",
    "Income taxes. We recognize the benefit of a tax position only if it is more likely than not to be "
    "sustained. Judgment is needed in estimating income by jurisdiction, the reversal of differences and "
    "the outcome of examinations.",
    "Revenue adjustments. Rebates, returns and allowances are estimated from contracts and experience. A "
    "change of ten percent in these estimates would not have changed revenue materially in any year "
    "presented.",
)  # fmt: skip

MARKET_RISK = (
    "We are exposed to changes in interest rates, exchange rates and the prices of commodities. We use "
    "derivatives only to reduce exposures that arise in our business, never to trade, and deal only with "
    "institutions of good standing.",
    "A rise of ten percent in the value of the dollar against all other currencies in which we do business "
    "would not have changed operating income by a material amount. The effect on reported revenue would "
    "have been larger.",
)  # fmt: skip

EXHIBITS = (
    "3.1 Restated certificate of incorporation", "3.2 Amended and restated bylaws", "4.1 Description of "
        "securities",
    "4.2 Indenture for the senior notes", "10.1 Credit agreement with the lenders named in it",
        "10.2 Long-term incentive plan",
    "10.3 Form of restricted share unit award", "10.4 Deferred compensation plan for directors",
        "10.5 Form of severance agreement",
    "21.1 Subsidiaries of the registrant", "23.1 Consent of independent registered public accounting firm",
    "31.1 Certification of the chief executive officer", "31.2 Certification of the chief financial officer",
    "32.1 Certification under section 906", "101 Interactive data file", "104 Cover page interactive data "
        "file",
)  # fmt: skip
