# Libraries of Lozenge in a CMake project:
#
#   find_package(Lozenge CONFIG REQUIRED)   # with -DLozenge_DIR=FOLDER_OF_THIS_FILE
#   lozenge_add_library(kernels SOURCES products.loz stencil.c OPTIONS --reassociate)
#   target_link_libraries(program PRIVATE kernels)
#
# Each source becomes a library: products.loz becomes libproducts.a with the header libproducts.h.
# The target carries the libraries, the folder of the headers, OpenMP and the mathematical library.
#
#   lozenge_add_library(TARGET [STATIC | SHARED] SOURCES FILE... [OPTIONS OPTION...])
#
# OPTIONS are passed to `lozenge compile`. The C compiler is that of the project. LOZENGE_COMMAND
# is the command, if it is not on the path.

find_program(LOZENGE_COMMAND lozenge
    HINTS "${CMAKE_CURRENT_LIST_DIR}/../../bin"
    DOC "The command lozenge")
if(NOT LOZENGE_COMMAND)
    set(Lozenge_FOUND FALSE)
    set(Lozenge_NOT_FOUND_MESSAGE "the command lozenge is not on the path; set LOZENGE_COMMAND")
    return()
endif()

include(CMakeFindDependencyMacro)
find_dependency(OpenMP COMPONENTS C)

function(lozenge_add_library target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED" "" "SOURCES;OPTIONS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "lozenge_add_library: not understood: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_SOURCES)
        message(FATAL_ERROR "lozenge_add_library: ${target} has no SOURCES")
    endif()
    if(arg_STATIC AND arg_SHARED)
        message(FATAL_ERROR "lozenge_add_library: ${target} is STATIC or SHARED, not both")
    endif()
    set(kind --static)
    set(ending .a)
    if(arg_SHARED)
        set(kind --shared)
        set(ending .so)
    endif()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.lozenge")
    file(MAKE_DIRECTORY "${folder}")
    set(libraries "")
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(path "${source}" ABSOLUTE)
        get_filename_component(stem "${source}" NAME_WE)
        set(library "${folder}/lib${stem}${ending}")
        if(library IN_LIST libraries)
            message(FATAL_ERROR "lozenge_add_library: ${target} has two sources called ${stem}")
        endif()
        add_custom_command(
            OUTPUT "${library}"
            BYPRODUCTS "${folder}/lib${stem}.h" "${folder}/lib${stem}.json"
            COMMAND "${CMAKE_COMMAND}" -E env "CC=${CMAKE_C_COMPILER}"
                "${LOZENGE_COMMAND}" compile "${path}" ${kind} -o "${library}" ${arg_OPTIONS}
            DEPENDS "${path}"
            COMMENT "Lozenge: ${source}"
            VERBATIM)
        list(APPEND libraries "${library}")
    endforeach()
    add_custom_target("${target}_libraries" DEPENDS ${libraries})
    add_library("${target}" INTERFACE)
    add_dependencies("${target}" "${target}_libraries")
    target_include_directories("${target}" INTERFACE "${folder}")
    target_link_libraries("${target}" INTERFACE ${libraries} OpenMP::OpenMP_C m)
endfunction()
