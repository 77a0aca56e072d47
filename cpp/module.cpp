#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstdlib>

#include "svmlight.hpp"

namespace nb = nanobind;

namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object to_numpy(minorant::svmlight::Buffer<T>& buffer) {
    const std::size_t size = buffer.size();
    T* data = buffer.release();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

template <class Value>
void bind_reader_of(nb::module_& m, const char* name) {
    using Reader = minorant::svmlight::Reader<Value>;
    nb::class_<Reader>(m, name)
        .def(
            "__init__",
            [](Reader* self, nb::object zero_based, std::int64_t n_features, std::size_t max_line) {
                using minorant::svmlight::Base;
                const Base base = zero_based.is_none()         ? Base::kAuto
                                  : nb::cast<bool>(zero_based) ? Base::kZero
                                                               : Base::kOne;
                new (self) Reader(base, n_features, max_line);
            },
            nb::arg("zero_based").none(), nb::arg("n_features"), nb::arg("max_line"))
        .def("feed",
             [](Reader& self, const Bytes& chunk) {
                 nb::gil_scoped_release release;
                 self.feed(reinterpret_cast<const char*>(chunk.data()), chunk.size());
             })
        .def("finish", [](Reader& self) {
            {
                nb::gil_scoped_release release;
                self.finish();
            }
            return nb::make_tuple(to_numpy(self.labels()), to_numpy(self.values()), to_numpy(self.indices()),
                                  to_numpy(self.row_ends()), self.n_columns());
        });
}

}  // namespace

static void bind_reader(nb::module_& m) {
    nb::exception<minorant::svmlight::ParseError>(m, "ParseError", PyExc_ValueError);
    bind_reader_of<float>(m, "SvmlightReader32");
    bind_reader_of<double>(m, "SvmlightReader64");
}

NB_MODULE(_core, m) { bind_reader(m); }
