"""What the fictional industries sell, to whom, and the ratios that are usual in each."""

from __future__ import annotations

from dataclasses import dataclass

Range = tuple[float, float]


@dataclass(frozen=True)
class Industry:
    """One industry. Ranges are shares of revenue unless they are days; ``goods`` says that it holds inventory.

    ``falls`` are what lowers margins, then what lowers revenue; either of ``rises`` may raise both.
    """

    name: str
    name_words: tuple[str, ...]
    segments: tuple[str, ...]
    offering: str
    customers: str
    goods: bool
    gross_margin: Range
    research: Range
    selling: Range
    capital: Range
    plant: float
    receivable_days: int
    inventory_days: int
    payable_days: int
    deferred: float
    dividends: float
    year_ends: tuple[int, ...]
    rises: tuple[str, ...]
    falls: tuple[str, ...]
    sites: str
    outlets: str = ""


INDUSTRIES: tuple[Industry, ...] = (
    Industry(
        "specialty chemicals", ("Coatings", "Chemical", "Materials"),
        ("Protective Coatings", "Industrial Adhesives", "Water Treatment", "Electronic Materials"),
        "coatings, adhesives and treatment chemicals that are blended to a customer's specification",
        "manufacturers, shipyards and municipal utilities", True,
        (0.30, 0.38), (0.02, 0.035), (0.12, 0.17), (0.04, 0.06), 0.35, 55, 75, 50, 0.01, 0.8, (12, 9),
        ("higher selling prices for protective coatings", "strong demand from shipyards"),
        ("higher solvent and resin costs", "customers working down their own stocks"), "plants and "
            "laboratories",
    ),
    Industry(
        "packaged food", ("Foods", "Provisions"),
        ("Frozen Meals", "Baked Goods", "Snacks", "Food Service"),
        "frozen meals, baked goods and snacks under regional brands and for store labels",
        "grocery chains, club stores and food-service distributors", True,
        (0.24, 0.33), (0.004, 0.01), (0.13, 0.18), (0.03, 0.05), 0.28, 32, 58, 45, 0.0, 0.9, (5, 6),
        ("price increases taken in the spring", "wider distribution in club stores"),
        ("higher grain, oil and freight costs", "lower volumes in frozen meals"), "bakeries and packing "
            "plants",
    ),
    Industry(
        "medical devices", ("Medical", "Surgical"),
        ("Patient Monitoring", "Surgical Instruments", "Infusion Systems"),
        "monitors, instruments and infusion pumps used in operating rooms and intensive care",
        "hospitals, group purchasing organizations and distributors", True,
        (0.52, 0.62), (0.07, 0.11), (0.25, 0.32), (0.03, 0.05), 0.22, 62, 130, 40, 0.04, 0.4, (12, 6),
        ("the launch of a new infusion pump", "a recovery in elective surgery"),
        ("a field correction of older monitors", "longer hospital budgeting cycles"), "assembly and "
            "sterilization sites",
    ),
    Industry(
        "enterprise software", ("Software", "Systems"),
        ("Subscriptions", "Maintenance", "Professional Services"),
        "software for planning, scheduling and maintaining industrial equipment",
        "manufacturers, railways and energy producers", False,
        (0.66, 0.76), (0.17, 0.23), (0.33, 0.43), (0.015, 0.03), 0.08, 70, 0, 30, 0.28, 0.0, (1, 12),
        ("growth in subscriptions and a high rate of renewal", "larger contracts with railways"),
        ("higher hosting costs", "longer sales cycles for new customers"), "offices and data centers",
    ),
    Industry(
        "home-goods retail", ("Home", "Stores"),
        ("Furniture", "Kitchen and Table", "Bedding"),
        "furniture, kitchenware and bedding sold in stores and over the internet",
        "households", True,
        (0.34, 0.42), (0.0, 0.0), (0.27, 0.33), (0.025, 0.045), 0.20, 4, 85, 48, 0.02, 0.6, (1,),
        ("new stores and higher traffic online", "fewer markdowns on furniture"),
        ("higher ocean freight and more markdowns", "lower traffic in stores"), "stores and distribution "
            "centers", "stores",
    ),
    Industry(
        "industrial machinery", ("Industries", "Machinery"),
        ("Pumps and Valves", "Material Handling", "Aftermarket Parts"),
        "pumps, valves, conveyors and the parts and repairs that keep them running",
        "mines, mills, ports and process plants", True,
        (0.28, 0.36), (0.02, 0.03), (0.14, 0.19), (0.025, 0.04), 0.24, 66, 95, 55, 0.05, 0.8, (12, 9),
        ("higher aftermarket volumes", "deliveries from a larger backlog"),
        ("higher steel and casting costs", "delays in customers' projects"), "foundries and machine shops",
    ),
    Industry(
        "electronic test equipment", ("Instruments", "Electronics"),
        ("Wafer Test", "Optical Inspection", "Service and Spares"),
        "test heads, probe stations and inspection systems for makers of integrated circuits",
        "foundries and assembly houses", True,
        (0.45, 0.56), (0.12, 0.16), (0.14, 0.19), (0.03, 0.06), 0.20, 60, 140, 42, 0.06, 0.3, (9, 12),
        ("capacity added by foundries", "a richer mix of inspection systems"),
        ("charges for excess parts", "a pause in spending on memory devices"), "clean rooms and test floors",
    ),
    Industry(
        "packaging", ("Packaging", "Containers"),
        ("Folding Cartons", "Flexible Films", "Closures"),
        "cartons, films and closures for food, beverages and household goods",
        "food, beverage and household-goods producers", True,
        (0.17, 0.23), (0.005, 0.012), (0.07, 0.10), (0.05, 0.07), 0.45, 45, 60, 58, 0.0, 0.7, (12, 6),
        ("the pass-through of resin costs in selling prices", "new contracts for closures"),
        ("resin costs that rose faster than prices", "lower volumes of folding cartons"), "converting plants",
    ),
    Industry(
        "freight transport", ("Freight", "Logistics"),
        ("Truckload", "Less-than-Truckload", "Brokerage"),
        "truckload and less-than-truckload carriage, and brokerage of other carriers' capacity",
        "retailers, manufacturers and distributors", False,
        (0.20, 0.27), (0.0, 0.0), (0.09, 0.13), (0.08, 0.11), 0.55, 38, 0, 22, 0.0, 0.6, (12,),
        ("higher contract rates", "more shipments a day in less-than-truckload"),
        ("higher wages and maintenance costs", "lower spot rates"), "terminals and yards", "terminals",
    ),
    Industry(
        "water supply", ("Water", "Utilities"),
        ("Regulated Water", "Wastewater", "Contract Operations"),
        "drinking water and wastewater service under rates set by state commissions",
        "households, businesses and towns", False,
        (0.46, 0.54), (0.0, 0.0), (0.12, 0.16), (0.24, 0.32), 2.40, 40, 0, 45, 0.01, 1.0, (12,),
        ("rate increases allowed by state commissions", "customers added by acquisition"),
        ("higher power and chemical costs", "lower consumption in a wet summer"), "treatment works and wells",
    ),
    Industry(
        "restaurants", ("Restaurants", "Hospitality"),
        ("Company Restaurants", "Franchise", "Catering"),
        "family restaurants under two brands, some run by franchisees, and catering",
        "families and business customers", True,
        (0.25, 0.33), (0.0, 0.0), (0.14, 0.18), (0.06, 0.09), 0.48, 6, 9, 20, 0.03, 0.4, (9, 1),
        ("higher average checks", "new restaurants in the southern states"),
        ("higher wages and beef prices", "lower traffic at lunch"), "restaurants and commissaries",
            "restaurants",
    ),
    Industry(
        "biotechnology", ("Therapeutics", "Biosciences"),
        ("Enzyme Products", "Collaboration Revenue", "Contract Research"),
        "enzyme therapies for rare disorders, and research carried out for partners",
        "specialty pharmacies and pharmaceutical partners", True,
        (0.60, 0.72), (0.38, 0.58), (0.25, 0.36), (0.03, 0.05), 0.18, 58, 150, 45, 0.10, 0.0, (12, 6),
        ("wider use of the lead enzyme therapy", "a milestone earned from a partner"),
        ("write-offs of expired batches", "the end of a collaboration"), "laboratories and a filling plant",
    ),
)  # fmt: skip
